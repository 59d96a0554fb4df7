"""A Tensor's version: how often it was written in place, by which a backward knows that a saved tensor has changed."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ms_compat.moved import graph_api
from ms_compat.registry import features

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["preserve_version_counter", "version"]


def version(tensor: Any) -> int:
    """How often a Tensor was written in place, all writes counted that were asked for before this call.

    ``tensor._version`` is read before MindSpore's pipeline has run (`version_read_is_synchronous`); this waits for it.

    Args:
        tensor: the Tensor; one that MindSpore leaked would block for ever.
    """
    if not features.get("version_read_is_synchronous", if_unknown=False):
        tensor.wait_pipeline()
    return int(tensor._version)


@contextlib.contextmanager
def preserve_version_counter(tensors: Any) -> Iterator[None]:
    """Write into a Tensor inside the block without its version changing, so that no backward objects to the write.

    MindSpore's own context ends before the pipeline has run, and then the version changes after all
    (`version_counter_preserving`); this one waits for it.

    Args:
        tensors: the Tensor that is written into, or a tuple of them.

    Raises:
        FeatureError: MindSpore has no such context (before 2.10); ``tensor.data.copy_(value)`` writes without one.
    """
    features["version_counter_preserving"].plan().enforce()
    with graph_api()._unsafe_preserve_version_counter(tensors):
        try:
            yield
        finally:
            for tensor in tensors if isinstance(tensors, tuple) else (tensors,):
                tensor.wait_pipeline()
