"""Integer division by zero."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Divide 5 by 0, both as integers."""
    import mindspore
    from mindspore import ops

    from ms_compat.probing.workloads import first_line

    five, zero = mindspore.Tensor([5], mindspore.int32), mindspore.Tensor([0], mindspore.int32)
    if int(ops.floor_divide(five, mindspore.Tensor([2], mindspore.int32)).asnumpy()[0]) != 2:
        raise RuntimeError("5 // 2 is not 2")
    try:
        found = int(ops.floor_divide(five, zero).asnumpy()[0])
    except (RuntimeError, ZeroDivisionError) as error:
        return Finding(True, f"5 // 0 raises: {first_line(error)}", {"error": first_line(error), "found": None})
    return Finding(False, f"on CPU 5 // 0 is {found} as an integer, with no error", {"error": None, "found": found})


def counterproof() -> None:
    """Look at the divisor first."""
    from mindspore import ops

    original = ops.floor_divide

    def floor_divide(left: Any, right: Any) -> Any:
        if bool((right == 0).any()):
            raise ZeroDivisionError("floor_divide by zero")
        return original(left, right)

    ops.floor_divide = floor_divide


FEATURE = Feature(
    name="integer_division_by_zero_is_refused",
    question="Is an integer division by zero refused?",
    matters=(
        "torch raises on CPU. MindSpore silently gives an extreme number: a step count, an index or a number of "
        "tokens per rank that is computed this way is then used."
    ),
    harm=Harm.WRONG,
    symptom="an index or a size is 2147483647 or -2147483648",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=("Check the divisor first, or divide as floats, where the result is infinite and shows up."),
        cost="one comparison",
    ),
    groups=(
        "operators",
        "errors",
    ),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/math_func.py: floor_divide",),
    counterproof=counterproof,
)
