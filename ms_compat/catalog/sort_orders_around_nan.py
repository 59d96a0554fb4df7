"""sort of values with NaN among them."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Sort 3, NaN, 1."""
    import math

    from mindspore import ops

    from ms_compat.probing.workloads import tensor

    found = ops.sort(tensor(3.0, math.nan, 1.0))[0].asnumpy().tolist()
    numbers = [value for value in found if not math.isnan(value)]
    holds = found[:2] == [1.0, 3.0] and math.isnan(found[2])
    shown = ", ".join("NaN" if math.isnan(value) else format(value, "g") for value in found)
    return Finding(
        holds,
        f"on CPU 3, NaN and 1 are sorted to {shown}",
        {"is_sorted": holds, "numbers_are_in_order": numbers == sorted(numbers)},
    )


def counterproof() -> None:
    """Put NaN last."""
    import mindspore
    import numpy as np
    from mindspore import ops

    def sort(x: Any) -> Any:
        values = x.asnumpy()
        order = np.argsort(values)
        return mindspore.Tensor(values[order]), mindspore.Tensor(order)

    ops.sort = sort


FEATURE = Feature(
    name="sort_orders_around_nan",
    question="Are values sorted when NaN is among them?",
    matters=(
        "torch and numpy put NaN last and sort the rest. On CPU one NaN leaves the numbers round it out of order: a "
        "median, a quantile, a top-p sampler or a ranking metric is silently wrong instead of NaN."
    ),
    harm=Harm.WRONG,
    symptom="sort() returns values that are not in order, on CPU",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Ask for NaN first, mindspore.ops.isnan(x).any(), or replace it: mindspore.ops.nan_to_num(x, "
            "nan=float('inf'), posinf=float('inf'), neginf=float('-inf'))."
        ),
        cost="one more operation",
    ),
    groups=("operators",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/array_func.py: sort",),
    counterproof=counterproof,
)
