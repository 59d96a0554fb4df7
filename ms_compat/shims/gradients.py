"""``value_and_grad`` and ``grad`` that leave MindSpore's recording as they found it.

MindSpore's own switch recording off when they are done, so that a torch-style tape records nothing any more
(`value_and_grad_keeps_recording`), and leave a half recorded graph behind when the forward raises: from then on
every graph under saved-tensor hooks is kept (`value_and_grad_survives_exception`).
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

from ms_compat.moved import pynative_executor
from ms_compat.registry import features

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["grad", "value_and_grad"]

_REPAIRED = ("value_and_grad_keeps_recording", "value_and_grad_survives_exception")


class _Depth(threading.local):
    """How many of these gradients are being computed inside one another in a thread."""

    value = 0


_depth = _Depth()


def value_and_grad(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Like ``mindspore.value_and_grad``, but recording is as it was afterwards, also when ``fn`` raises.

    For PyNative code. An exception of ``fn`` ends every gradient that is being computed in the process with
    MindSpore's means: catch it outside of the outermost one. Graphs recorded by a torch-style tape are kept.

    Args:
        fn: the function or Cell to differentiate.
        args: as for MindSpore's own (``grad_position``, ``weights``, ``has_aux``, ``return_ids``).
        kwargs: the same.
    """
    import mindspore

    return _leaving_no_trace(mindspore.value_and_grad(fn, *args, **kwargs))


def grad(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Like ``mindspore.grad``, but recording is as it was afterwards; see `value_and_grad`."""
    import mindspore

    return _leaving_no_trace(mindspore.grad(fn, *args, **kwargs))


def _leaving_no_trace(differentiate: Callable[..., Any]) -> Callable[..., Any]:
    if all(features.get(name, if_unknown=False) for name in _REPAIRED):
        return differentiate

    @functools.wraps(differentiate)
    def run(*inputs: Any, **kwargs: Any) -> Any:
        engine = pynative_executor()
        recording = engine.grad_flag(), engine.enable_grad()
        _depth.value += 1
        try:
            return differentiate(*inputs, **kwargs)
        except BaseException:
            if _depth.value == 1:
                engine.clear_res()
            raise
        finally:
            _depth.value -= 1
            engine.set_grad_flag(recording[0])
            engine.set_enable_grad(recording[1])

    return run
