"""A thread inside _no_grad, and what another thread records meanwhile."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Keep another thread inside _no_grad during part of a forward here, and then run its backward."""
    from mindspore import ops

    from ms_compat.moved import no_grad
    from ms_compat.probing.threads import held_elsewhere
    from ms_compat.probing.workloads import curve, differentiate_on_tape, leaf, recording

    def while_another_evaluates(x: Any) -> Any:
        with held_elsewhere(no_grad()):
            part = curve(x)
        return ops.add(part, ops.sub(x, x))  # recorded, so that the backward has something to go through

    finding = differentiate_on_tape(while_another_evaluates)
    with recording():
        recorded_afterwards = bool(ops.exp(leaf(0.5))._requires_grad)
    if not recorded_afterwards:
        raise RuntimeError("nothing is recorded either when the other thread has left _no_grad")
    return Finding(
        finding.holds,
        f"for a forward that ran in part while another thread was inside _no_grad, {finding.summary}",
        finding.evidence,
    )


FEATURE = Feature(
    name="no_grad_stays_in_its_thread",
    question="Does _no_grad in one thread leave what other threads record alone?",
    matters=(
        "An evaluation, a metric or a prefetcher that runs under _no_grad in a thread of its own switches recording "
        "off for the whole process below 2.10. Training that goes on beside it records nothing for as long as that "
        "lasts: parts of its graph are missing, so gradients are missing or wrong without an error, or the backward "
        "fails."
    ),
    harm=Harm.WRONG,
    symptom=(
        "now and then RuntimeError: The output tensor you provided doesn't requires grad and not have a grad_fn, or "
        "In no_grad context, you can not calculate gradient, while another thread evaluates"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Do not run _no_grad in one thread while another runs a forward that is to be differentiated: hold one "
            "threading.Lock round both, or evaluate in a process of its own."
        ),
        cost="evaluation and training take turns",
        remove_when=">=2.10",
    ),
    groups=("threads", "tape"),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=("mindspore/graph/api.py: _no_grad", "mindspore/common/api.py: _no_grad (2.8 and older)"),
)
