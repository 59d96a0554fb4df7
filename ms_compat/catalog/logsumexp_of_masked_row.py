"""logsumexp of a row that is masked entirely."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Take the logsumexp of two values of minus infinity."""
    import math

    from mindspore import ops

    from ms_compat.probing.workloads import tensor

    found = float(ops.logsumexp(tensor(-math.inf, -math.inf), 0).asnumpy())
    partly = float(ops.logsumexp(tensor(-math.inf, 0.0), 0).asnumpy())
    if partly != 0.0:
        raise RuntimeError(f"the logsumexp of minus infinity and 0 is {partly} instead of 0.0")
    return Finding(
        found == -math.inf,
        f"the logsumexp of a row of minus infinity is {'NaN' if math.isnan(found) else format(found, 'g')} "
        "(right: -inf)",
        {"is_minus_infinity": found == -math.inf, "is_nan": math.isnan(found)},
    )


def counterproof() -> None:
    """Take off the largest value only where it is finite, as torch does."""
    from mindspore import ops

    def logsumexp(x: Any, axis: int) -> Any:
        largest = ops.clamp(ops.amax(x, axis), min=-3.0e38)
        return ops.add(ops.log(ops.exp(ops.sub(x, largest)).sum(axis)), largest)

    ops.logsumexp = logsumexp


FEATURE = Feature(
    name="logsumexp_of_masked_row",
    question="Is the logsumexp of a row of minus infinity minus infinity?",
    matters=(
        "It is the log of a sum of no probability, in CTC and CRF losses, beam search and attention that is computed "
        "in blocks. torch gives minus infinity; MindSpore gives NaN, which spreads to the whole loss. ops.logaddexp "
        "does the same."
    ),
    harm=Harm.WRONG,
    symptom="NaN from logsumexp or logaddexp where everything is masked",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=("Mask with a large finite number (-1e9) instead of minus infinity."),
        cost="the result is about -1e9 instead of minus infinity",
    ),
    groups=("operators",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/math_func.py: logsumexp",),
    counterproof=counterproof,
)
