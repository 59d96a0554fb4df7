"""Final callbacks of a backward: those that callbacks queue run as well, and a failed backward drops none unsafely."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ms_compat.moved import pynative_executor
from ms_compat.registry import features

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["queue_backward_final_callback"]

_REPAIRED = ("backward_final_callback_may_queue_another", "failed_backward_drops_callbacks_safely")


class _Thread(threading.local):
    """What callbacks queue while they run in a thread; None while none runs."""

    waiting: list[Callable[[], Any]] | None = None


_thread = _Thread()
#: What was queued and has not been let go.
_kept: list[_Queued] = []


class _Queued:
    """A callback as MindSpore is given it.

    One of a backward that failed is let go by MindSpore without the interpreter's lock
    (`failed_backward_drops_callbacks_safely`), so it is kept alive here until a later backward has come to its end.
    """

    def __init__(self, callback: Callable[[], Any], backward: int) -> None:
        self._callback = callback
        self._backward = backward
        _kept.append(self)

    def __call__(self) -> None:
        self._let_go()
        _thread.waiting = [self._callback]
        try:
            while _thread.waiting:
                _thread.waiting.pop(0)()
        finally:
            _thread.waiting = None

    def _let_go(self) -> None:
        """Forget this one and those before it in backwards of the same depth, which have ended or failed."""
        if self in _kept:
            before = _kept[: _kept.index(self) + 1]
            done = [one for one in before if one._backward == self._backward]
            _kept[:] = [one for one in _kept if one not in done]


def queue_backward_final_callback(callback: Callable[[], Any]) -> None:
    """Call a function at the end of the backward that is running, like the executor's method of this name.

    It may queue others, which run at the end of the same backward too.

    Args:
        callback: takes no arguments; what it returns is dropped.

    Raises:
        FeatureError: MindSpore never calls it under ``run_backward`` (before 2.8).
    """
    features["backward_final_callback_fires"].plan().enforce()
    executor = pynative_executor()
    if all(features.get(name, if_unknown=False) for name in _REPAIRED):
        executor.queue_backward_final_callback(callback)
    elif _thread.waiting is not None:
        _thread.waiting.append(callback)
    else:
        executor.queue_backward_final_callback(_Queued(callback, executor.get_current_autodiff_engine_id()))
