"""Early stop ends a replay before the forward hooks of the block, after its pre-hooks."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm
from ms_compat.probing.tape import WHOLE_REPLAY
from ms_compat.span import Span


def probe() -> Finding:
    """Count the pre-hooks and forward hooks of a recomputed Cell over a forward and its backward."""
    from ms_compat.probing.workloads import block, curve, recompute, tensor, value_and_grad

    checkpoint = recompute("use_reentrant")
    cell = block(curve)
    calls = {"before": 0, "after": 0}

    def before(*_: Any) -> None:
        calls["before"] += 1

    def after(*_: Any) -> None:
        calls["after"] += 1

    cell.register_forward_pre_hook(before)
    cell.register_forward_hook(after)
    value_and_grad(lambda x: checkpoint(cell, x, use_reentrant=False))(tensor(0.5))
    if calls["before"] != 2:
        raise RuntimeError(f"a forward and a replay should run the pre-hook twice, but it ran {calls['before']} times")
    return Finding(
        calls["after"] == calls["before"],
        f"in a forward and its replay the pre-hook runs {calls['before']} times and the forward hook {calls['after']} "
        f"times",
        {"pre_hook_calls": calls["before"], "forward_hook_calls": calls["after"]},
    )


FEATURE = Feature(
    name="recompute_replay_runs_forward_hooks",
    question="Does recompute's replay run the forward hooks of a Cell as often as its pre-hooks?",
    matters=(
        "Hooks come in pairs: gather the sharded weights before a layer and free them after it, push an entry and pop "
        "it, start a timer and stop it. An early stop ends the replay between the two, so weights stay gathered until "
        "something else frees them and stacks are off by one."
    ),
    harm=Harm.GROWS,
    symptom=(
        "with recompute(use_reentrant=False), a hook of register_forward_hook is called once per step and that of "
        "register_forward_pre_hook twice; memory of sharded parameters is not freed in the backward"
    ),
    probe=probe,
    remedy=WHOLE_REPLAY,
    groups=("recompute", "hooks"),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.9", True), Span(">=2.9,<2.11", False)),
    references=(
        "mindspore/nn/cell.py: Cell._run_construct",
        "mindspore/common/recompute.py: _StopRecomputationError",
        "hyper_parallel/platform/mindspore/fully_shard/scheduler.py",
    ),
)
