"""A thread in the middle of a backward, and what another thread records meanwhile."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Run part of a forward here while another thread stands in a hook of its backward, and then its own backward."""
    from mindspore import ops

    from ms_compat.probing.threads import inside_a_backward
    from ms_compat.probing.workloads import curve, differentiate_on_tape

    def beside_a_backward(x: Any) -> Any:
        with inside_a_backward():
            part = curve(x)
        return ops.add(part, ops.sub(x, x))  # recorded, so that the backward has something to go through

    finding = differentiate_on_tape(beside_a_backward)
    return Finding(
        finding.holds,
        f"for a forward that ran in part while another thread was inside a backward, {finding.summary}",
        finding.evidence,
    )


FEATURE = Feature(
    name="backward_leaves_other_threads_recording",
    question="Is a forward recorded while another thread runs a backward?",
    matters=(
        "A backward switches recording off while it runs, below 2.10 for every thread of the process. A pipeline that "
        "overlaps one micro batch's backward with another one's forward, or two models trained in two threads, lose "
        "the operations that fall into that time: gradients are missing or wrong without an error, or the "
        "backward fails."
    ),
    harm=Harm.WRONG,
    symptom=(
        "now and then RuntimeError: The output tensor you provided doesn't requires grad and not have a grad_fn, or "
        "gradients that differ from run to run, where forward and backward overlap in two threads"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Do not let a forward in one thread overlap with a backward in another: hold one threading.Lock round each "
            "forward and each backward."
        ),
        cost="the Python part of forward and backward take turns; what was launched still overlaps on the device",
        remove_when=">=2.10",
    ),
    groups=("threads", "tape"),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=("mindspore/graph/api.py: _PyNativeExecutor.enable_grad",),
)
