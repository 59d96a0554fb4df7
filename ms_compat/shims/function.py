"""`Function`: the base class of custom gradients that gives back what MindSpore forgets (`function_ctx_releases`).

From 2.8 on, the context of each ``_Function.apply`` goes away without giving back its own reference to
``needs_input_grad``, so that one tuple stays for each call.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from ms_compat.registry import features

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    #: ``mindspore.common._grad_function._Function``, or a subclass of it whose contexts leave nothing behind.
    Function: TypeAlias = Any

__all__ = ["Function"]

_give_back = ctypes.pythonapi.Py_DecRef
_give_back.argtypes = [ctypes.py_object]
_give_back.restype = None

#: What a forgotten tuple is referred to by: a name, an argument, and the context that is no more.
_FORGOTTEN = 3


class _Life:
    """Lives in a context and ends with it; runs no code then, since MindSpore may end a context in any thread."""

    __slots__ = ("__weakref__",)


#: The contexts that have not been seen to end, each with its tuple.
_watched: deque[tuple[weakref.ref[_Life], tuple[bool, ...]]] = deque()


def __getattr__(name: str) -> Any:
    # MindSpore is imported for its base class when this one is asked for.
    if name == "Function":
        return _function()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@functools.cache
def _function() -> Any:
    from mindspore.common._grad_function import _Function

    if features.get("function_ctx_releases", if_unknown=True):
        return _Function

    class Function(_Function):  # type: ignore[misc]
        """MindSpore's ``_Function``, whose contexts leave nothing behind."""

        def __init_subclass__(cls, **options: Any) -> None:
            super().__init_subclass__(**options)
            # Whichever of the two is called with the context.
            for method in ("forward", "setup_context"):
                if method in cls.__dict__:
                    setattr(cls, method, staticmethod(_watching(getattr(cls, method), Function)))

    return Function


def _watching(method: Callable[..., Any], contexts: Any) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], contexts) and "_life" not in args[0].__dict__:
            life = args[0].__dict__["_life"] = _Life()
            _watched.append((weakref.ref(life), args[0].needs_input_grad))
            # Two for each new one, so that there are never many more than contexts alive.
            for _ in range(2):
                _release_or_watch_on()
        return method(*args, **kwargs)

    return call


def _release_or_watch_on() -> None:
    """Look at one context; where it has ended, give the reference back that it forgot, if it is there."""
    try:
        life, needs_input_grad = _watched.popleft()
    except IndexError:  # another thread was faster
        return
    if life() is not None:
        _watched.append((life, needs_input_grad))
    elif sys.getrefcount(needs_input_grad) == _FORGOTTEN:
        _give_back(needs_input_grad)
