"""The number of the running backward tells a block whether it runs in a forward or in a replay."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def inspect() -> Finding:
    """Look for the method."""
    from ms_compat.moved import pynative_executor

    there = hasattr(pynative_executor(), "get_current_autodiff_engine_id")
    return Finding(there, f"the executor has {'a' if there else 'no'} get_current_autodiff_engine_id")


def probe() -> Finding:
    """Read the engine's number in a forward, in its replay and after the backward."""
    from ms_compat.moved import graph_api, pynative_executor
    from ms_compat.probing.workloads import block, curve, recompute, tensor, value_and_grad

    engine = pynative_executor()
    if not hasattr(engine, "get_current_autodiff_engine_id"):
        raise ApiMissing(f"{graph_api().__name__}._pynative_executor.get_current_autodiff_engine_id")
    checkpoint = recompute("use_reentrant")
    seen: list[int] = []

    def body(x: Any) -> Any:
        seen.append(engine.get_current_autodiff_engine_id())
        return curve(x)

    cell = block(body)
    value_and_grad(lambda x: checkpoint(cell, x, use_reentrant=False))(tensor(0.5))
    if len(seen) < 2:
        raise RuntimeError(f"the block ran {len(seen)} times, a forward and a replay were expected")
    forward, replay = seen[0], min(seen[1:])
    after = engine.get_current_autodiff_engine_id()
    return Finding(
        forward == after == -1 and replay >= 0,
        f"the engine's number is {forward} in the forward, {'>= 0' if replay >= 0 else replay} in the replay and "
        f"{after} after the backward",
        {"in_forward": forward, "in_replay_at_least_0": replay >= 0, "after_backward": after},
    )


def counterproof() -> None:
    """Let the engine say that no backward runs."""
    from ms_compat.moved import pynative_executor

    type(pynative_executor()).get_current_autodiff_engine_id = lambda _: -1


FEATURE = Feature(
    name="autodiff_engine_id_tells_replay",
    question="Is the autodiff engine's number -1 in a forward and at least 0 in a replay?",
    matters=(
        "A layer that keeps something per forward (a cache on a stack, a dropout seed, an all-gather handle) has to "
        "know whether it runs in a forward or in the replay of one inside the backward; otherwise it pushes twice "
        "and pops once per step."
    ),
    harm=Harm.MOVED,
    symptom=(
        "forward caches grow by one entry per layer and step with recompute on; "
        "AttributeError: '_PyNativeExecutor' object has no attribute 'get_current_autodiff_engine_id'"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.is_recomputing",
        action="Ask ms_compat.is_recomputing(), which knows the replays of ms_compat.recompute by itself.",
        cost="MindSpore's own reentrant replay is not told",
        works_on=">=2.8",
        missing="Use MindSpore >= 2.8: 2.7 has neither the engine's number nor a non-reentrant replay to tell.",
        remove_when=">=2.8",
    ),
    groups=("recompute", "tape"),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.11", True)),
    references=("mindspore/common/recompute.py: _CreatePlaceholderHook.unpack",),
    counterproof=counterproof,
    inspect=inspect,
)
