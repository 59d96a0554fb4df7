"""Subclasses of Tensor that intercept operations, as probes make them: a Tensor that wraps a plain one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import ApiMissing, Finding
from ms_compat.moved import compiled
from ms_compat.probing.workloads import tensor

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["dispatch_mode", "dispatched", "intercepted", "interception", "no_fallback_guard", "seen_by", "wrapper"]


def wrapper() -> Any:
    """A subclass of Tensor that is made from a plain one and keeps it as ``wrapped``; it intercepts nothing."""
    import mindspore

    if not hasattr(mindspore.Tensor, "_make_subclass"):
        raise ApiMissing("mindspore.Tensor._make_subclass")

    class Wrapper(mindspore.Tensor):  # type: ignore[misc]
        wrapped: Any

        def __new__(cls, wrapped: Any) -> Any:
            made = mindspore.Tensor._make_subclass(cls, wrapped)
            made.wrapped = wrapped
            return made

        def __init__(self, wrapped: Any) -> None:
            pass

    return Wrapper


def no_fallback_guard() -> Any:
    """A new ``NoFallbackGuard``, inside of which no ``__fallback__`` is called."""
    try:
        return compiled("NoFallbackGuard")()
    except AttributeError:
        raise ApiMissing("mindspore._c_expression.NoFallbackGuard") from None


def _unwrapped(kind: Any, value: Any) -> Any:
    if isinstance(value, kind):
        return value.wrapped
    if isinstance(value, (list, tuple)):
        return [_unwrapped(kind, item) for item in value]
    return value


def intercepted() -> tuple[Any, list[str]]:
    """A subclass with ``__fallback__``, as HyperParallel's DTensor has one, and the operations it was asked for.

    It runs each on the plain Tensors.
    """
    kind = wrapper()
    no_fallback_guard()
    seen: list[str] = []

    def fallback(self: Any, operation: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ARG001 - a method
        seen.append(_name(operation))
        with no_fallback_guard():
            return operation(*[_unwrapped(kind, value) for value in args], **(kwargs or {}))

    kind.__fallback__ = fallback
    return kind, seen


def dispatched() -> tuple[Any, list[str]]:
    """A subclass with ``__ms_dispatch__``, as HyperParallel's AsyncCollectiveTensor, and the operations it saw."""
    kind = wrapper()
    seen: list[str] = []

    def dispatch(cls: Any, operation: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ARG001 - a method
        seen.append(_name(operation))
        return operation(*[_unwrapped(kind, value) for value in args], **(kwargs or {}))

    kind.__ms_dispatch__ = classmethod(dispatch)
    return kind, seen


def dispatch_mode(then: Callable[[], object] | None = None) -> tuple[Any, list[str]]:
    """An ``MsDispatchMode`` that runs each operation, and ``then`` after it, and the operations it saw."""
    import mindspore

    if not hasattr(mindspore, "MsDispatchMode"):
        raise ApiMissing("mindspore.MsDispatchMode")
    seen: list[str] = []

    class Mode(mindspore.MsDispatchMode):  # type: ignore[misc]
        def __ms_dispatch__(self, operation: Any, args: Any, kwargs: Any = None) -> Any:
            seen.append(_name(operation))
            result = operation(*args, **(kwargs or {}))
            if then is not None:
                then()
            return result

    return Mode(), seen


def seen_by(operation: Callable[[Any], object], *, fallback: bool = True) -> dict[str, bool]:
    """Which of the ways to intercept that this release has saw an operation on a Tensor of two values.

    Args:
        operation: takes the Tensor, which for a subclass is one of that class.
        fallback: whether ``__fallback__`` is asked as well as ``__ms_dispatch__`` of a subclass and of a mode.
    """
    import mindspore

    found = {}
    if fallback:
        kind, seen = intercepted()
        operation(kind(tensor(1.0, 2.0)))
        found["__fallback__"] = bool(seen)
    if hasattr(mindspore, "MsDispatchMode") or not fallback:
        mode, seen = dispatch_mode()
        with mode:
            operation(tensor(1.0, 2.0))
        found["MsDispatchMode"] = bool(seen)
        kind, seen = dispatched()
        operation(kind(tensor(1.0, 2.0)))
        found["__ms_dispatch__"] = bool(seen)
    return found


def interception(
    name: str, operation: Callable[[Any], object], control_name: str, control: Callable[[Any], object]
) -> Finding:
    """Whether every way to intercept sees an operation, given that it sees the control."""
    if not all(seen_by(control).values()):
        raise RuntimeError(f"not even {control_name} is intercepted")
    seen = seen_by(operation)
    missed = [way for way, was_seen in seen.items() if not was_seen]
    return Finding(
        not missed,
        f"{name} is {'not ' if missed else ''}seen by {' and '.join(missed or seen)}; {control_name} is",
        {"missed_by": len(missed), "ways": len(seen)},
    )


def _name(operation: Any) -> str:
    return str(getattr(operation, "name", operation))
