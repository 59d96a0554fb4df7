"""A final callback that queues a further one."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

#: The one thing both callbacks can reach is a list; value_and_grad is where final callbacks run on every release.
_PROGRAM = """
from ms_compat.probing.workloads import curve, tensor
from ms_compat.moved import pynative_executor

calls = []

def first():
    calls.append("first")
    pynative_executor().queue_backward_final_callback(lambda: calls.append("second"))

def forward(x):
    y = curve(x)
    y.register_hook(lambda gradient: pynative_executor().queue_backward_final_callback(first))
    return y

mindspore.value_and_grad(forward)(tensor(0.5))
print(*calls, flush=True)
"""
_REPAIR = """
from ms_compat.moved import pynative_executor

engine_type = type(pynative_executor())
native = engine_type.queue_backward_final_callback
waiting = []

def drain():
    while waiting:
        waiting[0]()
        del waiting[0]

def queue(self, callback):
    waiting.append(callback)
    if len(waiting) == 1:
        native(self, drain)

engine_type.queue_backward_final_callback = queue
"""


def probe() -> Finding:
    """Queue a callback that queues another, in a process of its own: on 2.10 the one that is dropped may crash it."""
    from ms_compat.feature import ApiMissing
    from ms_compat.moved import pynative_executor
    from ms_compat.probing.alone import run_alone

    if not hasattr(pynative_executor(), "queue_backward_final_callback"):
        raise ApiMissing("mindspore.graph.api._pynative_executor.queue_backward_final_callback")
    ending = run_alone(_PROGRAM)
    if ending.error or (not ending.signal and "first" not in ending.output):
        raise RuntimeError(f"the first callback did not run either: {ending}")
    runs = "second" in ending.output
    return Finding(
        runs and not ending.signal,
        f"a callback that a final callback queues {'runs' if runs else 'does not run'} at the end of the same backward",
        {"second_runs": runs},
    )


def counterproof() -> None:
    """Run what is queued while callbacks run after them."""
    from ms_compat.probing.alone import change_alone

    change_alone(_REPAIR)


FEATURE = Feature(
    name="backward_final_callback_may_queue_another",
    question="Does a callback that is queued by a final callback run at the end of the same backward?",
    matters=(
        "torch runs what is queued until nothing is left, and code that was written for it relies on that: the end "
        "of one module's backward queues the end of the next. MindSpore drops the second one without a word, so what "
        "it should have waited for or written is missing. On 2.10 the one that was dropped may also crash the process."
    ),
    harm=Harm.WRONG,
    symptom="a callback queued with queue_backward_final_callback inside another one is never called",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.queue_backward_final_callback",
        action="Queue both with ms_compat.queue_backward_final_callback, which runs what callbacks queue.",
        cost="one more Python call per callback",
        works_on=">=2.8",
        missing="In a final callback, call the second function at the end of the first instead of queueing it.",
    ),
    groups=("tape",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/graph/api.py: _PyNativeExecutor.queue_backward_final_callback",),
    counterproof=counterproof,
)
