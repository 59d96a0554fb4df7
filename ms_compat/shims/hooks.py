"""Tensor hooks that leave nothing behind."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Literal

from ms_compat.moved import pynative_executor
from ms_compat.registry import features

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["HookHandle", "register_hook"]

#: Native handles whose hooks are done with. They are removed outside of any hook: removing one inside a hook crashes.
_spent: deque[Any] = deque()
_thread = threading.local()


class _Registration:
    """What MindSpore was given, and whether it is still wanted."""

    def __init__(self, hook: Callable[[Any], Any], *, once: bool) -> None:
        self.native: Any = None
        self._hook = hook
        self._once = once
        self._removed = False

    def __call__(self, gradient: Any) -> Any:
        if self._removed:
            return gradient
        _thread.in_hook = getattr(_thread, "in_hook", 0) + 1
        try:
            return self._hook(gradient)
        finally:
            _thread.in_hook -= 1
            if self._once:
                self._release()
            if _spent:
                _remove_after_backward()

    def remove(self) -> None:
        """Call the hook no more."""
        self._removed = True
        self._release()

    def _release(self) -> None:
        """Give MindSpore's handle to those that are removed outside of any hook."""
        native, self.native = self.native, None
        if native is not None:
            _spent.append(native)


class HookHandle:
    """The handle of a hook; `remove` may be called at any time, also inside a hook."""

    def __init__(self, registration: _Registration, *, removes_when_dropped: bool) -> None:
        self._registration = registration
        self._removes_when_dropped = removes_when_dropped

    def remove(self) -> None:
        """Take the hook away. Inside a hook it is not called again, and released when the backward is over."""
        self._registration.remove()
        _remove_spent()

    def __del__(self) -> None:
        if self._removes_when_dropped:
            self.remove()


def register_hook(
    tensor: Any, hook: Callable[[Any], Any], *, release: Literal["after_backward", "with_handle"] = "after_backward"
) -> Any:
    """Like ``tensor.register_hook(hook)``, but the registration is released without a call of ``remove``.

    MindSpore keeps about 100 bytes for every hook that is not removed (`hook_handle_drop_releases`, hyper-parallel
    issue #660). Where it does not, this is the native call.

    Args:
        tensor: the Tensor whose gradient the hook sees.
        hook: called with the gradient; what it returns, if not None, takes the gradient's place.
        release: ``"after_backward"``: once the backward that called the hook is over; the handle may be dropped at
            once. The hook is then called in one backward only. ``"with_handle"``: when the handle is dropped, before or
            after a backward.

    Returns:
        A handle with ``remove()``.

    Raises:
        ValueError: ``release`` is neither of the two.
    """
    if release not in {"after_backward", "with_handle"}:
        raise ValueError(f"release: expected 'after_backward' or 'with_handle', found {release!r}")
    _remove_spent()
    if features.get("hook_handle_drop_releases", if_unknown=False) and release == "after_backward":
        return tensor.register_hook(hook)
    registration = _Registration(hook, once=release == "after_backward")
    registration.native = tensor.register_hook(registration)
    return HookHandle(registration, removes_when_dropped=release == "with_handle")


def _remove_spent() -> None:
    _thread.queued = False
    while _spent and not getattr(_thread, "in_hook", 0):
        _spent.pop().remove()


def _remove_after_backward() -> None:
    """Remove what is spent when the running backward ends; where nothing tells, the next registration does it."""
    executor = pynative_executor()
    if not getattr(_thread, "queued", False) and hasattr(executor, "queue_backward_final_callback"):
        _thread.queued = True
        executor.queue_backward_final_callback(_remove_spent)
