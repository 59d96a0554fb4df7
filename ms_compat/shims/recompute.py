"""``recompute`` and ``checkpoint``: drop-ins for ``mindspore.recompute`` on every supported release."""

from __future__ import annotations

import functools
import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

from ms_compat.measurement import Answer
from ms_compat.registry import features

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["checkpoint", "native_recompute", "recompute", "repaired"]


class _LateModule(types.ModuleType):
    """A module that is imported when an attribute is read.

    MindSpore's graph compiler reads the functions it compiles from the source and finds their globals by attribute
    access, but it cannot compile an import statement. So `recompute` needs a global.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)


mindspore = _LateModule("mindspore")

# For Python always False. MindSpore's graph compiler reads the comment behind the ``if`` instead and then looks at
# nothing but that branch; asking MindSpore's own ``_run_in_jit()`` costs 50 microseconds a call.
_COMPILING = False


@functools.cache
def repaired() -> tuple[str, ...]:
    """The features that say of MindSpore's own recompute what this one makes up for."""
    return tuple(name for name in features if features.feature(name).remedy.shim == "ms_compat.recompute")


def native_recompute() -> Callable[..., Any] | None:
    """``mindspore.recompute`` itself, where MindSpore is imported and its own is right in every respect; else None."""
    if "mindspore" in sys.modules and all(features.get(name, if_unknown=False) for name in repaired()):
        native: Callable[..., Any] = importlib.import_module("mindspore").recompute
        return native
    return None


def recompute(
    block: Callable[..., Any],
    *args: Any,
    use_reentrant: bool = True,
    output_recompute: bool = False,
    early_stop: bool = True,
    context_fn: Callable[[], tuple[Any, Any]] | None = None,
    **kwargs: Any,
) -> Any:
    """Run ``block(*args, **kwargs)`` and run it again in the backward instead of keeping what it saved.

    Takes what ``mindspore.recompute`` takes on the newest supported release, on every supported release. Where
    MindSpore's own is right in every respect, ``ms_compat.recompute`` is ``mindspore.recompute``.

    Args:
        block: a Cell; with ``use_reentrant=False`` any callable.
        args: its positional arguments; tensors in tuples, lists and dicts are differentiated as well.
        use_reentrant: decides which arguments are accepted, as in MindSpore, whose default this is. Both spellings run
            the non-reentrant way: the reentrant one fails under ``run_backward`` on every release and loses about 100
            bytes a call.
        output_recompute: compute the block's output again as well, instead of keeping it for the block that follows.
        early_stop: accepted and without effect. Every replay runs to its end, which is what makes it checkable; the
            operators after the last saved tensor are all that early stop would save.
        context_fn: returns two context managers, the first for the forward, the second for each replay.
        kwargs: the block's keyword arguments, and ``save_rng_state`` (default True): whether the replay's random
            operators repeat what the forward drew.

    Returns:
        What the block returns.

    Raises:
        RecomputeError: (in the backward) the replay saved something else than the forward.
        FeatureError: this MindSpore has no non-reentrant recompute (before 2.8).
        TypeError: ``use_reentrant`` with something that is not a Cell.
        ValueError: ``use_reentrant`` with ``context_fn``.
    """
    if _COMPILING:  # @jit.cond: True
        return mindspore.recompute(block, *args, output_recompute=output_recompute, **kwargs)
    del early_stop
    exists = features.recompute_non_reentrant
    if exists.answer is Answer.NO:
        exists.plan().enforce()
    from ms_compat.shims.replay import describe, run_recomputed

    if use_reentrant and not output_recompute:
        if not isinstance(block, mindspore.nn.Cell):
            raise TypeError(
                f"recompute(use_reentrant=True) takes a Cell, not {describe(block)}; use_reentrant=False takes any "
                "callable"
            )
        if context_fn is not None:
            raise ValueError("recompute(use_reentrant=True) takes no context_fn; pass use_reentrant=False")
    return run_recomputed(block, args, kwargs, output_recompute=output_recompute, context_fn=context_fn)


def checkpoint(
    block: Callable[..., Any],
    *args: Any,
    output_recompute: bool = False,
    early_stop: bool = True,
    context_fn: Callable[[], tuple[Any, Any]] | None = None,
    **kwargs: Any,
) -> Any:
    """`recompute` in its non-reentrant spelling: any callable, any nesting of tensors."""
    return recompute(
        block,
        *args,
        use_reentrant=False,
        output_recompute=output_recompute,
        early_stop=early_stop,
        context_fn=context_fn,
        **kwargs,
    )
