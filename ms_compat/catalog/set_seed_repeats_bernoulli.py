"""ops.bernoulli draws other numbers after set_seed, which every other random operator on CPU follows."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Seed with the same number twice and draw after each, with the other random operators as a control."""
    import mindspore
    from mindspore import ops

    from ms_compat.probing.tape import not_repeated, random_operators, random_state_kept
    from ms_compat.probing.workloads import tensor

    with random_state_kept():
        ones = tensor(*[1.0] * 64)
        draws = {"ops.bernoulli": lambda: ops.bernoulli(ones, 0.5), **random_operators()}
        differing = not_repeated(lambda: mindspore.set_seed(11), draws)
    return Finding(
        not differing,
        f"{len(differing)} of {len(draws)} random operators draw other numbers after set_seed with the same seed"
        + (f": {', '.join(differing)}" if differing else ""),
        {"differing": ", ".join(differing) or None, "operators": len(draws)},
    )


def counterproof() -> None:
    """Draw its seed from numpy, which set_seed seeds."""
    import numpy as np
    from mindspore import ops

    native = ops.bernoulli

    def bernoulli(input: Any, p: Any = 0.5, seed: int | None = None) -> Any:  # noqa: A002 - its name in MindSpore
        return native(input, p, int(np.random.randint(1, 2**31 - 1)) if seed is None else seed)

    ops.bernoulli = bernoulli


FEATURE = Feature(
    name="set_seed_repeats_bernoulli",
    question="Does ops.bernoulli draw the same numbers again after set_seed with the same seed?",
    matters=(
        "Stochastic depth, random masks and augmentations that are made with it differ from run to run although the "
        "run was seeded and everything else repeats. A regression cannot be told from chance."
    ),
    harm=Harm.WRONG,
    symptom="a seeded run does not repeat on CPU; the first difference is in a mask of mindspore.ops.bernoulli",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "On CPU give it a seed of its own, ops.bernoulli(x, p, seed=int(numpy.random.randint(1, 2**31 - 1))), "
            "which set_seed repeats through numpy, or compare ops.rand(*shape) with p."
        ),
        cost="one number of numpy's per call",
    ),
    groups=("rng",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/math_func.py: bernoulli",),
    counterproof=counterproof,
)
