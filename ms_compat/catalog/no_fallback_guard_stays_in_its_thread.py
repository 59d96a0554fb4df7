"""A thread inside NoFallbackGuard, and what another thread's subclasses see meanwhile."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Keep another thread inside the guard and add with a subclass here."""
    from mindspore import ops

    from ms_compat.probing.subclasses import intercepted, no_fallback_guard
    from ms_compat.probing.threads import held_elsewhere
    from ms_compat.probing.workloads import tensor

    kind, seen = intercepted()
    ops.add(kind(tensor(1.0)), tensor(2.0))
    if len(seen) != 1:
        raise RuntimeError("__fallback__ is not called either when no thread is inside the guard")
    with held_elsewhere(no_fallback_guard()):
        ops.add(kind(tensor(1.0)), tensor(2.0))
    called = len(seen) - 1
    return Finding(
        called == 1,
        f"__fallback__ was called {called} times for one addition while another thread was inside NoFallbackGuard",
        {"called": called},
    )


FEATURE = Feature(
    name="no_fallback_guard_stays_in_its_thread",
    question="Does NoFallbackGuard in one thread leave the subclasses of other threads alone?",
    matters=(
        "HyperParallel's DTensor enters the guard for the local part of every operation. On 2.8 and 2.9 the guard "
        "holds for the whole process: while one thread is inside, an operation on a DTensor in another thread silently "
        "works on its local shard."
    ),
    harm=Harm.WRONG,
    symptom="wrong shapes or values of DTensors now and then when two threads use them",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Use DTensors from one thread at a time: hold one threading.Lock round each forward and backward.",
        cost="the threads take turns",
        missing="Use MindSpore >= 2.8 for Tensor subclasses with a __fallback__.",
        remove_when=">=2.10",
    ),
    groups=("subclasses", "threads"),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=(
        "mindspore/ccsrc/pynative/forward/pyboost/fallback.cc",
        "hyper_parallel/platform/mindspore/dtensor.py: DTensorBase.__fallback__",
    ),
)
