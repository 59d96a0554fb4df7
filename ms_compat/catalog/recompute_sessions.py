"""Recompute sessions: several backwards share one replay, which may be started before them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = ("_recompute_handle_collector_ctx", "_recompute_session_ctx", "_clear_recompute_session")


def _module() -> Any:
    """The module of recompute, where it has sessions."""
    from ms_compat.probing.workloads import recompute_module

    for name in _NAMES:
        if not hasattr(recompute_module(), name):
            raise ApiMissing(f"mindspore.common.recompute.{name}")
    return recompute_module()


def inspect() -> Finding:
    """Look for the three functions."""
    _module()
    return Finding(True, f"mindspore.common.recompute has {', '.join(_NAMES)}")


def probe() -> Finding:
    """Start a replay ahead of its backward and count how often the block runs."""
    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import POINT, SLOPE, backward, block, curve, leaf, recompute, recording

    module = _module()
    runs: list[None] = []

    def body(x: Any) -> Any:
        runs.append(None)
        return curve(x)

    with recording():
        x = leaf(POINT)
        with module._recompute_handle_collector_ctx() as handles:
            output = recompute("use_reentrant")(block(body), x, use_reentrant=False)
        with module._recompute_session_ctx(retain_on_unpack=True) as session:
            for handle in handles:
                handle.recompute(session)
            ahead = len(runs) - 1
            backward(output)
        module._clear_recompute_session(session)
    found = value(x._grad)
    late = len(runs) - 1 - ahead
    return Finding(
        (ahead, late) == (1, 0) and abs(found - SLOPE) < 1e-3,
        f"a block is replayed {ahead} times ahead of the backward and {late} times in it, and the gradient is "
        f"{found:.4f} (right: {SLOPE:.4f})",
        {"replays_ahead": ahead, "replays_in_backward": late, "gradient": found, "right_gradient": round(SLOPE, 4)},
    )


def counterproof() -> None:
    """A session that nobody hears of."""

    @contextlib.contextmanager
    def unheard(session_id: object = None, retain_on_unpack: bool = False) -> Iterator[object]:
        del retain_on_unpack
        yield session_id or "session"

    _module()._recompute_session_ctx = unheard


FEATURE = Feature(
    name="recompute_sessions",
    question="Can a replay be started ahead of its backward and be shared by several backwards?",
    matters=(
        "HyperParallel's pipeline stages collect the handles of recomputed blocks in every forward, to replay while "
        "they communicate and to split a backward in two. Its import or its first forward fails below 2.10."
    ),
    harm=Harm.FAILS,
    symptom="ImportError: cannot import name '_recompute_handle_collector_ctx' from 'mindspore.common.recompute'",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Where they are missing, put a context in the place of _recompute_handle_collector_ctx that yields an "
            "empty list: each backward then replays by itself. Do not split the backward of a recomputed block in two."
        ),
        cost="replays no longer overlap with communication",
        remove_when=">=2.10",
    ),
    groups=("recompute", "moved_names"),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=(
        "mindspore/common/recompute.py: _recompute_session_ctx",
        "hyper_parallel/platform/mindspore/pipeline_parallel/stage.py",
    ),
    counterproof=counterproof,
    inspect=inspect,
)
