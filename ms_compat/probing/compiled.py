"""What counterproofs about compiled functions share."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["switch_jit_off"]


def switch_jit_off() -> None:
    """Let ``mindspore.jit`` run functions as they are, for good; for counterproofs."""
    import mindspore

    def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
        return functools.partial(jit, **options) if function is None else function

    mindspore.jit = jit
