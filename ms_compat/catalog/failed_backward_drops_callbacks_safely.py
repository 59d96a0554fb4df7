"""A backward that fails with a final callback in its queue crashes the process later."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_ROUNDS = 30
_PROGRAM = f"""
from mindspore import ops
from ms_compat.probing.tape import Deliberate
from ms_compat.probing.workloads import backward, leaf, recording, tensor

def fail(gradient):
    raise Deliberate

done = 0
with recording() as engine:
    for _ in range({_ROUNDS}):
        x = leaf(0.5)
        y = ops.mul(x, tensor(2.0))
        handles = [
            y.register_hook(lambda gradient: engine.queue_backward_final_callback(lambda: None)),
            x.register_hook(fail),
        ]
        try:
            backward(ops.exp(y))
        except Deliberate:
            for handle in handles:
                handle.remove()
        backward(ops.exp(leaf(0.5)))
        done += 1
        print(done, flush=True)
"""


def probe() -> Finding:
    """Let backwards fail after they queued a callback, in a process of its own, and see whether it lives."""
    from ms_compat.feature import ApiMissing
    from ms_compat.moved import pynative_executor
    from ms_compat.probing.alone import run_alone

    if not hasattr(pynative_executor(), "queue_backward_final_callback"):
        raise ApiMissing("mindspore.graph.api._pynative_executor.queue_backward_final_callback")
    ending = run_alone(_PROGRAM)
    if ending.error or (not ending.signal and f"{_ROUNDS}" not in ending.output):
        raise RuntimeError(f"the program failed in another way: {ending}")
    return Finding(
        not ending.signal,
        f"the process {'ends by a signal within' if ending.signal else 'lives through'} {_ROUNDS} backwards that raise "
        "with a final callback in the queue",
        {"crashed": bool(ending.signal), "rounds": _ROUNDS},
    )


FEATURE = Feature(
    name="failed_backward_drops_callbacks_safely",
    question="Does the process live on after a backward failed with a final callback in its queue?",
    matters=(
        "Fully sharded data parallelism queues a callback in every backward. When the backward raises after that (a "
        "hook, a custom backward, an out-of-memory error), 2.10 frees the callback without holding the interpreter's "
        "lock: whoever catches the error and goes on is ended by a signal, and the error that came first is not seen."
    ),
    harm=Harm.FAILS,
    symptom=(
        "Segmentation fault, or Fatal Python error: PyThreadState_Get: the function must be called with the GIL held, "
        "after an exception in the backward"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.queue_backward_final_callback",
        action=(
            "Queue it with ms_compat.queue_backward_final_callback, which keeps it alive, or keep a reference to every "
            "function you queue until a later backward has ended well."
        ),
        cost="a reference per callback of a failed backward, until a later one has ended",
    ),
    groups=("tape", "errors"),
    spans=(Span(">=2.7.2,<2.10", True), Span(">=2.10,<2.11", False)),
    references=("mindspore/graph/api.py: _PyNativeExecutor.queue_backward_final_callback",),
)
