"""tensor[0], as subclasses of Tensor and dispatch modes see it."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Index with an integer and, as the control, with a slice, and ask what was intercepted."""
    from ms_compat.probing.subclasses import interception

    return interception("tensor[0]", lambda x: x[0], "tensor[0:1]", lambda x: x[0:1])


def counterproof() -> None:
    """Take a slice of one and drop its dimension."""
    import mindspore

    original = mindspore.Tensor.__getitem__

    def getitem(self: Any, index: Any) -> Any:
        if isinstance(index, int):
            return original(self, slice(index, index + 1)).reshape(self.shape[1:])
        return original(self, index)

    mindspore.Tensor.__getitem__ = getitem


FEATURE = Feature(
    name="integer_index_is_intercepted",
    question="Do __fallback__ and __ms_dispatch__ see tensor[0]?",
    matters=(
        "An integer index silently passes by every way of intercepting operations: a DTensor gives a row of its local "
        "shard as if it were the row of the whole, an AsyncCollectiveTensor is read before its collective is done, and "
        "selective checkpointing does not count it. Iterating over a Tensor is the same."
    ),
    harm=Harm.WRONG,
    symptom="dtensor[0], or for row in dtensor, gives plain Tensors with the values of the local shard",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Write ops.index_select, tensor.narrow or tensor[i:i + 1].reshape(tensor.shape[1:]) instead of tensor[i] "
            "where the Tensor may be a subclass or a dispatch mode is to see it; unwrap before iterating."
        ),
        cost="one more operation",
        missing="Use MindSpore >= 2.8 for Tensor subclasses that intercept operations.",
    ),
    groups=("subclasses", "dispatch", "views"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/common/tensor.py: Tensor.__getitem__", "mindspore/utils/ms_dispatch.py: MsDispatchMode"),
    counterproof=counterproof,
)
