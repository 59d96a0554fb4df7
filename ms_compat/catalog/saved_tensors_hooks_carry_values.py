"""Saved-tensor hooks see what a backward needs and may keep it in another form."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator


def inspect() -> Finding:
    """Look for the class."""
    import mindspore

    if not hasattr(mindspore, "saved_tensors_hooks"):
        raise ApiMissing("mindspore.saved_tensors_hooks")
    return Finding(True, "mindspore has saved_tensors_hooks")


def probe() -> Finding:
    """Keep what is saved as numpy arrays, under value_and_grad and on the tape, and look at the gradients."""
    import mindspore

    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import (
        POINT,
        SLOPE,
        backward,
        curve,
        leaf,
        recording,
        saved_tensors_hooks,
        tensor,
        value_and_grad,
    )

    packed: list[None] = []

    def pack(saved: Any) -> Any:
        packed.append(None)
        return saved.asnumpy()

    def forward(x: Any) -> Any:
        with saved_tensors_hooks(pack, mindspore.Tensor):
            return curve(x)

    slopes = [value(value_and_grad(forward)(tensor(POINT))[1])]
    with recording():
        x = leaf(POINT)
        backward(forward(x))
        slopes.append(value(x._grad))
    right = all(abs(slope - SLOPE) < 1e-3 for slope in slopes)
    return Finding(
        right and len(packed) >= 2,
        f"{len(packed)} saved tensors went through the hooks as arrays and the gradients are "
        f"{slopes[0]:.4f} (value_and_grad) and {slopes[1]:.4f} (tape), right: {SLOPE:.4f}",
        {"packed": len(packed), "value_and_grad": slopes[0], "tape": slopes[1], "right_gradient": round(SLOPE, 4)},
    )


def counterproof() -> None:
    """Hooks that nobody calls."""
    import mindspore

    @contextlib.contextmanager
    def saved_tensors_hooks(*_: Any) -> Iterator[None]:
        yield

    mindspore.saved_tensors_hooks = saved_tensors_hooks


FEATURE = Feature(
    name="saved_tensors_hooks_carry_values",
    question="May saved-tensor hooks keep what a backward needs in another form?",
    matters=(
        "Activation offload (swap to host memory), compression and recompute are built on it. Before 2.7.2 there is "
        "nothing of the kind, and HyperParallel's activation swap cannot be imported."
    ),
    harm=Harm.FAILS,
    symptom="AttributeError: module 'mindspore' has no attribute 'saved_tensors_hooks'",
    probe=probe,
    remedy=Remedy(
        path=Path.ERROR,
        action="Use MindSpore >= 2.7.2, and train without activation offload until then.",
        cost="the memory that offload would save",
    ),
    groups=("saved_tensors",),
    spans=(Span(">=2.7.2,<2.11", True),),
    references=(
        "mindspore/graph/api.py: saved_tensors_hooks",
        "hyper_parallel/platform/mindspore/activation_checkpoint/activation_swap.py",
    ),
    counterproof=counterproof,
    inspect=inspect,
)
