"""~x of an integer Tensor is a logical not."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_VALUES = [1, 0, 5]


def probe() -> Finding:
    """Invert integers."""
    import mindspore

    from ms_compat.probing.tensors import numbers

    inverted = ~mindspore.Tensor(_VALUES, mindspore.int32)
    found, right = numbers(inverted), [float(~value) for value in _VALUES]
    return Finding(
        found == right,
        f"~ of the integers {_VALUES} is {[int(value) for value in found]} of dtype {inverted.dtype} (right: "
        f"{[int(value) for value in right]})",
        {"found": str([int(value) for value in found]), "dtype": str(inverted.dtype)},
    )


def counterproof() -> None:
    """Flip the bits."""
    import mindspore

    mindspore.Tensor.__invert__ = lambda self: self ^ -1


FEATURE = Feature(
    name="invert_of_ints_is_bitwise",
    question="Does ~x of an integer Tensor flip its bits, as in numpy and torch?",
    matters=(
        "Bit masks, hashes and alignment arithmetic (n & ~7) written for numpy or torch compute something else: ~x is "
        "a bool Tensor that says where x is zero, and goes on as 0 and 1."
    ),
    harm=Harm.WRONG,
    symptom="x & ~7 or a bit mask gives wrong numbers; ~x of an int tensor has dtype Bool",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Write x ^ -1 for the bits of a signed integer Tensor, and x == 0 where the logical not is meant.",
        cost="none",
    ),
    groups=("dtype",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/common/tensor.py: Tensor.__invert__",),
    counterproof=counterproof,
)
