"""clamp of NaN."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Clamp NaN between -1 and 1."""
    import math

    from mindspore import ops

    from ms_compat.probing.workloads import tensor

    found = float(ops.clamp(tensor(math.nan), -1.0, 1.0).asnumpy()[0])
    kept = math.isnan(found)
    return Finding(
        kept,
        f"on CPU clamp of NaN between -1 and 1 is {'NaN' if kept else format(found, 'g')}",
        {"keeps_nan": kept, "found": None if kept else found},
    )


def counterproof() -> None:
    """Hand NaN on."""
    from mindspore import ops

    original = ops.clamp
    ops.clamp = lambda x, least, most: ops.add(original(x, least, most), ops.mul(x, 0.0))


FEATURE = Feature(
    name="clamp_keeps_nan",
    question="Is clamp of NaN NaN?",
    matters=(
        "ops.clamp, ops.clip_by_value and hardtanh turn NaN into the lower bound on CPU, where torch and numpy keep "
        "it. Gradients that are clipped by value after an overflow look finite, pass every check, and are applied."
    ),
    harm=Harm.WRONG,
    symptom="clipped gradients or activations are exactly the lower bound where NaN is expected, on CPU",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=("Check for NaN before clipping: mindspore.ops.isnan(x).any(), or mindspore.amp.all_finite(gradients)."),
        cost="one reduction per Tensor",
    ),
    groups=(
        "operators",
        "errors",
    ),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/math_func.py: clamp",),
    counterproof=counterproof,
)
