"""A Python integer that does not fit the dtype of the Tensor it meets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable

_BEYOND = 2**32


def probe() -> Finding:
    """Add, compare and assign with an integer that int32 cannot hold."""
    import mindspore

    from ms_compat.probing.tensors import listing, numbers
    from ms_compat.probing.workloads import wake_numpy

    wake_numpy()

    def added() -> list[float]:
        return numbers(mindspore.Tensor([1], mindspore.int32) + _BEYOND)

    def compared() -> list[float]:
        return numbers(mindspore.Tensor([0], mindspore.int32) == _BEYOND)

    def assigned() -> list[float]:
        x = mindspore.Tensor([1], mindspore.int32)
        x[0] = _BEYOND
        return numbers(x)

    # What is right: the sum in a wider dtype, or an error.
    right = {"x + i": [1.0 + _BEYOND], "x == i": [0.0], "x[0] = i": [float(_BEYOND)]}

    def is_wrong(compute: Callable[[], list[float]], value: list[float]) -> bool:
        try:
            return compute() != value
        except (OverflowError, ValueError, RuntimeError, TypeError) as error:
            if not any(word in str(error).lower() for word in ("overflow", "range", "out of bounds")):
                raise
            return False

    computations = zip(right.items(), (added, compared, assigned), strict=True)
    wrong = [name for (name, value), compute in computations if is_wrong(compute, value)]
    return Finding(
        not wrong,
        f"with 2**32 and an int32 Tensor {len(wrong)} of {len(right)} operations use the low 32 bits, which are zero "
        f"({listing(wrong)})",
        {"wrong": listing(wrong), "operations": len(right)},
    )


def counterproof() -> None:
    """Refuse an integer that does not fit."""
    import mindspore

    def checking(name: str) -> None:
        original = getattr(mindspore.Tensor, name)

        def method(self: Any, *arguments: Any) -> Any:
            value = arguments[-1]
            if self.dtype == mindspore.int32 and isinstance(value, int) and abs(value) >= 2**31:
                raise OverflowError(f"{value} is out of range for int32")
            return original(self, *arguments)

        setattr(mindspore.Tensor, name, method)

    for name in ("__add__", "__eq__", "__setitem__"):
        checking(name)


FEATURE = Feature(
    name="int_overflow_is_refused",
    question="Is a Python integer that does not fit the Tensor's dtype refused or promoted, instead of cut?",
    matters=(
        "Offsets of flattened indices, hashed ids and sentinels beyond 2**31 meet int32 Tensors, MindSpore's usual "
        "index dtype. Only the low bits are used: adding 2**32 adds nothing and 0 == 2**32 is true, so lookups read "
        "other rows. torch refuses."
    ),
    harm=Harm.WRONG,
    symptom="wrong or negative indices beyond 2**31; tensor == sentinel matches zeros; uint8 + 300 wraps",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Convert the Tensor first where such numbers can occur: x.astype(mindspore.int64) + offset.",
        cost="twice the memory for the indices",
    ),
    groups=("dtype",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/common/tensor.py: Tensor.__add__, Tensor.__eq__",),
    counterproof=counterproof,
)
