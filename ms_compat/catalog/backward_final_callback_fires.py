"""queue_backward_final_callback: a callback that runs when a backward has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Queue a callback in a hook of a backward on the tape and count how often it runs."""
    from ms_compat.probing.tape import final_callbacks_of

    calls: list[None] = []

    def queue(register: Callable[[Callable[[], None]], None]) -> None:
        register(lambda: calls.append(None))

    final_callbacks_of(queue)
    return Finding(
        len(calls) == 1,
        f"a callback queued for the end of a run_backward runs {len(calls)} times",
        {"calls": len(calls)},
    )


FEATURE = Feature(
    name="backward_final_callback_fires",
    question="Does a callback queued with queue_backward_final_callback run at the end of run_backward?",
    matters=(
        "Fully sharded data parallelism waits for its last gradient reductions in this callback. Where it never runs, "
        "the reductions are not finished and gradients are missing. On 2.7.2 it runs at the end of value_and_grad only."
    ),
    harm=Harm.WRONG,
    symptom=(
        "sharded gradients are missing or stale on 2.7; a function given to queue_backward_final_callback is not called"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.ERROR,
        action="Use MindSpore >= 2.8, or call the function yourself after run_backward has returned.",
        cost="a line behind every run_backward; what runs inside of the backward cannot rely on it",
        remove_when=">=2.8",
    ),
    groups=("tape",),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.11", True)),
    references=(
        "mindspore/graph/api.py: _PyNativeExecutor.queue_backward_final_callback",
        "hyper_parallel/platform/mindspore/fully_shard/scheduler.py",
    ),
)
