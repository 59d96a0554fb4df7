"""max of values with NaN among them."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Take the maximum of 1 and NaN, and of NaN and 1."""
    import math

    from mindspore import ops

    from ms_compat.probing.workloads import tensor

    kept = [math.isnan(float(ops.amax(tensor(*values)).asnumpy())) for values in ((1.0, math.nan), (math.nan, 1.0))]
    return Finding(
        all(kept),
        f"on CPU the maximum of 1 and NaN is {'NaN' if kept[0] else '1'}, and that of NaN and 1 is "
        f"{'NaN' if kept[1] else '1'}",
        {"nan_last_is_kept": kept[0], "nan_first_is_kept": kept[1]},
    )


def counterproof() -> None:
    """Hand NaN on."""
    from mindspore import ops

    original = ops.amax
    ops.amax = lambda x: ops.add(original(x), ops.mul(x.sum(), 0.0))


FEATURE = Feature(
    name="max_keeps_nan",
    question="Is the maximum NaN when one of the values is?",
    matters=(
        "max, min, amax, argmax, topk and the infinity norm on CPU skip a NaN unless it comes first, where torch and "
        "numpy give NaN. The largest gradient, the scale of a quantiser or an overflow check by maximum silently "
        "misses it."
    ),
    harm=Harm.WRONG,
    symptom="max() of a Tensor with NaN is a number, on CPU",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=("Ask for NaN on its own: mindspore.ops.isnan(x).any(), or use a sum, which keeps it."),
        cost="one more reduction",
    ),
    groups=(
        "operators",
        "errors",
    ),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/math_func.py: amax",),
    counterproof=counterproof,
)
