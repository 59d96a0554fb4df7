"""ops.randperm gives the same permutation every time it is called without a seed."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_CALLS = 8
_ELEMENTS = 64


def probe() -> Finding:
    """Ask for several permutations of 64 elements and count how many differ."""
    from mindspore import ops

    found = {tuple(ops.randperm(_ELEMENTS).asnumpy().tolist()) for _ in range(_CALLS)}
    return Finding(
        len(found) == _CALLS,
        f"{_CALLS} calls of ops.randperm({_ELEMENTS}) give {len(found)} different permutations",
        {"calls": _CALLS, "different": len(found)},
    )


def counterproof() -> None:
    """Draw the seed anew for every call."""
    import numpy as np
    from mindspore import ops

    native = ops.randperm
    generator = np.random.default_rng()

    def randperm(n: int, *rest: Any, **keywords: Any) -> Any:
        keywords.setdefault("seed", int(generator.integers(1, 2**31 - 1)))
        return native(n, *rest, **keywords)

    ops.randperm = randperm


FEATURE = Feature(
    name="randperm_varies",
    question="Does ops.randperm give another permutation each time it is called?",
    matters=(
        "Its seed is 0 by default and means 0: a data set that is shuffled with it has the same order in every epoch, "
        "in every run and on every rank, and a random subset is always the same one. torch.randperm varies. "
        "Measured on CPU."
    ),
    harm=Harm.WRONG,
    symptom="mindspore.ops.randperm returns the same order on every call; shuffling has no effect from epoch to epoch",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Write mindspore.Tensor(numpy.random.permutation(n)), which set_seed repeats, or ops.randperm(n, seed=-1), "
            "which nothing repeats."
        ),
        cost="none that can be measured",
    ),
    groups=("rng", "data"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/random_func.py: randperm",),
    counterproof=counterproof,
)
