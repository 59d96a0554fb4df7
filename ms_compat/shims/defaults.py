"""A process-wide switch for code that calls ``mindspore.recompute`` somewhere inside and cannot be edited."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from typing import TYPE_CHECKING, Any

from ms_compat.registry import features
from ms_compat.shims.recompute import native_recompute

if TYPE_CHECKING:
    from collections.abc import Callable

    from ms_compat.shims.replay_names import Names

__all__ = ["recompute_defaults"]


class recompute_defaults:  # noqa: N801 - it is called like a function, and used in a with statement
    """Make ``mindspore.recompute`` and ``Cell.recompute`` follow the plan, wherever they are called.

    In force from the moment it is created until `undo`, or until the end of its ``with`` block. It may be created more
    than once; the last one to end restores MindSpore. What is replaced are names that MindSpore's functions look up
    when they run, so an earlier ``from mindspore import recompute`` follows as well, and so does a ``Cell.recompute()``
    that was configured earlier. Where MindSpore's own recompute is right, nothing is replaced.

    Attributes:
        changes: the names that are replaced while it is in force; empty where nothing has to be.

    Raises:
        FeatureError: this MindSpore has no non-reentrant recompute (before 2.8).
    """

    _lock = threading.Lock()
    _in_force = 0
    _undo = contextlib.ExitStack()

    def __init__(self) -> None:
        features.recompute_non_reentrant.plan().enforce()
        from ms_compat.shims.replay_names import names

        self._done = False
        replacements = [] if native_recompute() else _replacements(names())
        self.changes = tuple(f"{_dotted(owner)}.{name}" for owner, name, _ in replacements)
        with self._lock:
            if recompute_defaults._in_force == 0:
                for owner, name, value in replacements:
                    _replace(recompute_defaults._undo, owner, name, value)
            recompute_defaults._in_force += 1

    def __enter__(self) -> recompute_defaults:
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()

    def undo(self) -> None:
        """Restore MindSpore's own, unless another ``recompute_defaults`` is still in force."""
        with self._lock:
            if not self._done:
                self._done = True
                recompute_defaults._in_force -= 1
                if recompute_defaults._in_force == 0:
                    recompute_defaults._undo.close()


def _replacements(ms: Names) -> list[tuple[Any, str, Any]]:
    from ms_compat.shims.replay import run_recomputed

    takes_options = "context_fn" in inspect.signature(ms.native.recompute_without_reentrant).parameters  # from 2.9 on
    cell = ms.native._RecomputeCell

    def without_reentrant(block: Callable[..., Any], output_recompute: bool, *args: Any, **kwargs: Any) -> Any:
        if takes_options:
            _, context_fn, *args = args  # type: ignore[assignment]
        else:
            # 2.8 does not know these two and hands them on as if they were the block's.
            kwargs.pop("early_stop", None)
            context_fn = kwargs.pop("context_fn", None)
        return run_recomputed(block, tuple(args), kwargs, output_recompute=output_recompute, context_fn=context_fn)

    def reentrant(block: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return run_recomputed(block, args, kwargs, output_recompute=False, context_fn=None)

    return [
        (ms.native, "recompute_without_reentrant", without_reentrant),
        (ms.native, "_RecomputeCell", lambda block: functools.partial(reentrant, block)),
        (cell, "__call__", lambda self, *args, **kwargs: reentrant(self.net, *args, **kwargs)),
    ]


def _replace(undo: contextlib.ExitStack, owner: Any, name: str, value: Any) -> None:
    if name in vars(owner):
        undo.callback(setattr, owner, name, vars(owner)[name])
    else:
        undo.callback(delattr, owner, name)
    setattr(owner, name, value)


def _dotted(owner: Any) -> str:
    return f"{owner.__module__}.{owner.__qualname__}" if isinstance(owner, type) else str(owner.__name__)
