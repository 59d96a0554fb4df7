"""tensor[...] = value, as subclasses of Tensor and dispatch modes see it."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Assign to a slice and, as the control, copy into the whole, and ask what was intercepted."""
    from ms_compat.probing.subclasses import interception
    from ms_compat.probing.workloads import tensor

    def assign(x: Any) -> None:
        x[0:1] = tensor(5.0)

    return interception("tensor[0:1] = value", assign, "copy_", lambda x: x.copy_(tensor(5.0, 6.0)))


def counterproof() -> None:
    """Copy the whole back, which is seen."""
    import mindspore
    from mindspore import ops

    original = mindspore.Tensor.__setitem__

    def setitem(self: Any, index: Any, value: Any) -> None:
        changed = ops.mul(getattr(self, "wrapped", self), 1.0)
        original(changed, index, value)
        self.copy_(changed)

    mindspore.Tensor.__setitem__ = setitem


FEATURE = Feature(
    name="item_assignment_is_intercepted",
    question="Do __fallback__ and __ms_dispatch__ see tensor[...] = value?",
    matters=(
        "Assignment through an index silently passes by every way of intercepting operations: on a DTensor it writes "
        "to the local shard at the index that was meant for the whole, and on an AsyncCollectiveTensor it races with "
        "the collective that fills it."
    ),
    harm=Harm.WRONG,
    symptom="an assignment to part of a DTensor changes the wrong elements, on every rank the same local ones",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Write with tensor.copy_(value) on the whole, or unwrap the subclass and assign to its local part on "
            "purpose."
        ),
        cost="the caller says which elements are meant",
        missing="Use MindSpore >= 2.8 for Tensor subclasses that intercept operations.",
    ),
    groups=("subclasses", "dispatch", "inplace"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/common/tensor.py: Tensor.__setitem__", "mindspore/utils/ms_dispatch.py: MsDispatchMode"),
    counterproof=counterproof,
)
