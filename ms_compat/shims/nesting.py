"""Tensors in nested arguments: tuples, named tuples, lists and dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["apply", "same"]


def apply(kind: type | tuple[type, ...], function: Callable[[Any], Any], value: Any) -> Any:
    """The value with a function applied to everything of a kind in it; containers are copied."""
    if isinstance(value, kind):
        return function(value)
    if type(value) in (tuple, list):
        return type(value)(apply(kind, function, item) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(apply(kind, function, item) for item in value))
    if type(value) is dict:
        return {key: apply(kind, function, item) for key, item in value.items()}
    return value


def same(value: Any) -> Any:
    """What it is given."""
    return value
