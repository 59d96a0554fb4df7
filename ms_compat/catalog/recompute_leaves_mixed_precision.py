"""Early stop raises through a Cell with to_float, which then never switches its precision off."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm
from ms_compat.probing.tape import WHOLE_REPLAY
from ms_compat.span import Span


def probe() -> Finding:
    """Differentiate through a recomputed half-precision Cell and look in what precision MindSpore computes after it."""
    import mindspore

    from ms_compat.probing.tape import computed_in, leaving_mixed_precision
    from ms_compat.probing.workloads import block, curve, recompute, tensor, value_and_grad

    checkpoint = recompute("use_reentrant")
    cell = block(curve).to_float(mindspore.float16)
    before = computed_in()
    with leaving_mixed_precision():
        value_and_grad(lambda x: checkpoint(cell, x, use_reentrant=False))(tensor(0.5))
        after = computed_in()
    return Finding(
        after == before,
        f"after the backward of a recomputed float16 Cell, operators outside of it compute in {after} (before: "
        f"{before})",
        {"before": before, "after": after},
    )


FEATURE = Feature(
    name="recompute_leaves_mixed_precision",
    question="Does the precision of a recomputed Cell end with its replay?",
    matters=(
        "The replay of a Cell with to_float, or of a network made by auto_mixed_precision with O2, is stopped early "
        "by an exception. The Cell has switched to float16 or bfloat16 by then and never switches back: from the first "
        "backward on, the loss, the norms and the optimizer of the whole process compute in half precision."
    ),
    harm=Harm.WRONG,
    symptom=(
        "with recompute(use_reentrant=False) and O2 or to_float, float32 operators return float16 after the first "
        "step; the loss gets coarse, becomes inf or stops falling; no error is raised"
    ),
    probe=probe,
    remedy=WHOLE_REPLAY,
    groups=("recompute", "amp"),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.9", True), Span(">=2.9,<2.11", False)),
    references=(
        "mindspore/common/recompute.py: _StopRecomputationError",
        "mindspore/nn/cell.py: Cell._complex_call",
    ),
)
