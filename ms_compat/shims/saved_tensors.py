"""Saved-tensors hooks that never close a cycle through the graph.

An operator that saves its own output for the backward owns that output, and the output owns the operator's node in the
graph. MindSpore cuts that circle for the tensors it saves itself (from 2.9 on), not for what a pack hook hands back: a
hook that returns the tensor it was given keeps a retained, or never finished, graph for ever. Here what a pack hook
returns is cut out of its graph first.
"""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

from ms_compat.errors import FeatureError
from ms_compat.moved import compiled, saved_tensors_hooks_class
from ms_compat.shims.nesting import apply, same

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["detach_saved_tensors", "saved_tensors_hooks"]


class saved_tensors_hooks:  # noqa: N801 - MindSpore's name
    """``mindspore.saved_tensors_hooks`` without the cycle: a context manager, and a base class for one.

    Args:
        pack_hook: called with the very tensor it would get from MindSpore. What it returns, alone or in tuples, lists
            and dicts, is replaced by a detached tensor that shares its storage and its version counter; nothing is
            copied. A tensor inside an object of another kind is left alone; ``pack_hook`` has to detach that itself.
        unpack_hook: called with what was packed; returns the tensor.

    Raises:
        FeatureError: (on entering) this MindSpore has no saved-tensors hooks (before 2.7.2).
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        native = saved_tensors_hooks_class()
        if native is None:
            raise FeatureError("this MindSpore has no saved_tensors_hooks; they exist from 2.7.2 on")
        pack_hook, tensor = self.pack_hook, importlib.import_module("mindspore").Tensor
        hooks = native(lambda saved: apply(tensor, _detached, pack_hook(saved)), self.unpack_hook)
        hooks.__enter__()
        self._entered.append(hooks)

    def __exit__(self, *error: object) -> None:
        self._entered.pop().__exit__(*error)


def detach_saved_tensors() -> saved_tensors_hooks:
    """Let nothing that is saved for the backward keep the graph it came from; a context manager."""
    return saved_tensors_hooks(same, same)


def _detached(tensor: Any) -> Any:
    # Only a leaf that requires a gradient has no graph behind it. A view does, though it does not require a gradient
    # when it is made in a hook: it holds the tensor it looks at.
    return tensor if tensor._is_leaf and tensor._requires_grad else _detach()(tensor)


@functools.cache
def _detach() -> Any:
    return compiled("pyboost_detach")
