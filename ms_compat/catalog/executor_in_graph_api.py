"""_pynative_executor and _no_grad moved from mindspore.common.api to mindspore.graph.api."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_NEW = "mindspore.graph.api"


def _names() -> tuple[Any, Any] | str:
    """The executor and _no_grad from their new place, or what is not there."""
    import importlib

    try:
        module = importlib.import_module(_NEW)
        return module._pynative_executor, module._no_grad
    except (ImportError, AttributeError) as error:
        return str(error)


def inspect() -> Finding:
    """Look for the two names."""
    names = _names()
    if isinstance(names, str):
        return Finding(False, f"{_NEW} is not where they live: {names}", {"error": names})
    return Finding(True, f"{_NEW} has _pynative_executor and _no_grad", {"error": None})


def probe() -> Finding:
    """Take the executor and _no_grad from there and switch recording on and off with them."""
    names = _names()
    if isinstance(names, str):
        return Finding(False, f"{_NEW} is not where they live: {names}", {"error": names})
    from mindspore import ops

    from ms_compat.probing.workloads import leaf

    engine, no_grad = names
    flag = engine.grad_flag()
    engine.set_grad_flag(True)
    try:
        x = leaf(0.5)
        recorded = bool(ops.exp(x)._requires_grad)
        with no_grad():
            kept_off = not ops.exp(x)._requires_grad
    finally:
        engine.set_grad_flag(flag)
    return Finding(
        recorded and kept_off,
        f"the executor of {_NEW} {'switches' if recorded else 'does not switch'} recording on and its _no_grad "
        f"{'switches' if kept_off else 'does not switch'} it off",
        {"error": None, "recorded": recorded, "no_grad_kept_off": kept_off},
    )


def counterproof() -> None:
    """Move the names: away from the new place where they are there, and to it where they are not."""
    import importlib
    import sys
    import types

    if isinstance(_names(), str):
        old = importlib.import_module("mindspore.common.api")
        moved = types.ModuleType(_NEW)
        moved._pynative_executor, moved._no_grad = old._pynative_executor, old._no_grad  # type: ignore[attr-defined]
        sys.modules.setdefault("mindspore.graph", types.ModuleType("mindspore.graph"))
        sys.modules[_NEW] = moved
    else:
        del sys.modules[_NEW]._pynative_executor


FEATURE = Feature(
    name="executor_in_graph_api",
    question="Do _pynative_executor and _no_grad live in mindspore.graph.api?",
    matters=(
        "HyperParallel's platform module imports them from there and cannot be imported at all below 2.9. The old "
        "place still answers on 2.9 and 2.10, with a deprecation line, and is announced to go."
    ),
    harm=Harm.MOVED,
    symptom="ModuleNotFoundError: No module named 'mindspore.graph.api'",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.pynative_executor",
        action=(
            "Take the executor from ms_compat.pynative_executor(), the one place that finds what moved, and _no_grad "
            "from mindspore.graph.api, below 2.9 from mindspore.common.api."
        ),
        cost="nothing but the look-up, once",
        remove_when=">=2.9",
    ),
    groups=("moved_names",),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=("mindspore/graph/api.py", "mindspore/common/api.py"),
    counterproof=counterproof,
    inspect=inspect,
)
