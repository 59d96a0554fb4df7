"""Non-reentrant recompute under the torch-style tape, which Tensor.backward() of HyperParallel calls."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Run the tape back through a block that is recomputed non-reentrantly."""
    from ms_compat.probing.workloads import block, curve, differentiate_on_tape, recompute

    checkpoint = recompute("use_reentrant")
    cell = block(curve)
    return differentiate_on_tape(lambda x: checkpoint(cell, x, use_reentrant=False))


def counterproof() -> None:
    """Turn over whether the replay records: off is what breaks it, and on is what repairs it."""
    import functools

    import mindspore

    from ms_compat.moved import pynative_executor

    original = mindspore.recompute
    engine = pynative_executor()

    @functools.wraps(original)
    def turned(block: Any, *inputs: Any, **options: Any) -> Any:
        def run(*given: Any, **named: Any) -> Any:
            if engine.get_current_autodiff_engine_id() < 0:
                return block(*given, **named)
            enabled = engine.enable_grad()
            engine.set_enable_grad(not enabled)
            try:
                return block(*given, **named)
            finally:
                engine.set_enable_grad(enabled)

        return original(run, *inputs, **options)

    mindspore.recompute = turned


FEATURE = Feature(
    name="recompute_under_run_backward",
    question="Does non-reentrant recompute work under the torch-style tape?",
    matters=(
        "loss.backward() of HyperParallel calls _c_expression.run_backward. While it runs, recording is off, and a "
        "release whose recompute does not switch it on again saves nothing in the replay: the first backward of a "
        "checkpointed model fails."
    ),
    harm=Harm.FAILS,
    symptom="RuntimeError: Unpack is being triggered for a tensor, make sure to do this only once!",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.recompute",
        action="Call ms_compat.recompute instead of mindspore.recompute; it switches recording on inside the replay.",
        cost="one Python call more per run of a block; a replay that saves something else than its forward is an error",
        works_on=">=2.8",
        missing="Use MindSpore >= 2.8: older releases have no non-reentrant recompute.",
        remove_when=">=2.10",
    ),
    groups=("recompute", "tape"),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=(
        "mindspore/common/recompute.py: _CreatePlaceholderHook.unpack",
        "mindspore/common/recompute.py: _RecomputeHandle.recompute",
    ),
    counterproof=counterproof,
)
