"""Grad recording switched on in one thread, seen from a thread that starts later."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Switch recording on here, run a forward in a worker thread, and its backward here."""
    import threading

    from ms_compat.moved import pynative_executor
    from ms_compat.probing.workloads import curve, differentiate_on_tape

    flags: list[bool] = []
    outputs: list[Any] = []

    def in_a_worker(x: Any) -> Any:
        def forward() -> None:
            flags.append(bool(pynative_executor().grad_flag()))
            outputs.append(curve(x))

        worker = threading.Thread(target=forward)
        worker.start()
        worker.join()
        return outputs.pop()

    finding = differentiate_on_tape(in_a_worker)
    seen = "on" if flags[0] else "off"
    return Finding(
        finding.holds,
        f"recording is {seen} in a worker thread, and for a forward there {finding.summary}",
        {"flag_in_worker": flags[0], **finding.evidence},
    )


def counterproof() -> None:
    """Turn the flag over at the start of every thread."""
    import threading

    from ms_compat.moved import pynative_executor

    engine = pynative_executor()
    original = threading.Thread.run

    def run(self: threading.Thread) -> None:
        engine.set_grad_flag(not engine.grad_flag())
        original(self)

    threading.Thread.run = run  # type: ignore[method-assign]


FEATURE = Feature(
    name="grad_flag_crosses_threads",
    question="Does grad recording that one thread switched on hold in a thread started later?",
    matters=(
        "HyperParallel switches recording on once, when it is imported. 2.10.0 made the switch one per thread: a "
        "pipeline stage, a prefetcher or a server that runs its forward in a worker thread records no graph there."
    ),
    harm=Harm.FAILS,
    symptom="RuntimeError: The output tensor you provided doesn't requires grad, where a worker thread ran the forward",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.grad_recording",
        action="Run the worker thread's forward inside ms_compat.grad_recording().",
        cost="two calls per block that is wrapped; below 2.10 the switch stays one for the whole process",
    ),
    groups=("threads", "tape"),
    spans=(Span(">=2.7.2,<2.10", True), Span(">=2.10,<2.11", False)),
    references=("mindspore/graph/api.py: _PyNativeExecutor.set_grad_flag",),
    counterproof=counterproof,
)
