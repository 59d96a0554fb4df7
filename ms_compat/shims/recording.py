"""Grad recording in this thread, and whether code runs in a forward or in a replay of one."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from ms_compat.moved import pynative_executor
from ms_compat.registry import features
from ms_compat.shims.random_outputs import is_replaying

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["autodiff_engine_id", "grad_recording", "is_recomputing"]

_global_flag = threading.Lock()
_recording_blocks = 0
_before_first = (False, True)


@contextlib.contextmanager
def grad_recording() -> Iterator[None]:
    """Record operations of this thread for ``run_backward`` inside the block, whatever other threads do.

    Up to 2.9 the executor has one flag for the whole process, from 2.10 on one for each thread
    (`grad_flag_crosses_threads`). Where it is one for all, it stays on until the last block of any
    thread ends, so that no block switches another one off.
    """
    executor = pynative_executor()
    if features.get("grad_flag_crosses_threads", if_unknown=False):
        with _for_all_threads(executor):
            yield
        return
    before = executor.grad_flag(), executor.enable_grad()
    executor.set_grad_flag(True)
    executor.set_enable_grad(True)
    try:
        yield
    finally:
        executor.set_grad_flag(before[0])
        executor.set_enable_grad(before[1])


@contextlib.contextmanager
def _for_all_threads(executor: object) -> Iterator[None]:
    global _recording_blocks, _before_first  # noqa: PLW0603 - as global as the flag it counts for
    with _global_flag:
        if _recording_blocks == 0:
            _before_first = executor.grad_flag(), executor.enable_grad()  # type: ignore[attr-defined]
        _recording_blocks += 1
        executor.set_grad_flag(True)  # type: ignore[attr-defined]
        executor.set_enable_grad(True)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        with _global_flag:
            _recording_blocks -= 1
            if _recording_blocks == 0:
                executor.set_grad_flag(_before_first[0])  # type: ignore[attr-defined]
                executor.set_enable_grad(_before_first[1])  # type: ignore[attr-defined]


def autodiff_engine_id() -> int:
    """The id of the backward this code runs in: -1 in a forward, 0 or greater in a backward and in its replays.

    Raises:
        FeatureError: MindSpore cannot tell (before 2.8).
    """
    features["autodiff_engine_id_tells_replay"].plan().enforce()
    return int(pynative_executor().get_current_autodiff_engine_id())


def is_recomputing() -> bool:
    """Whether a recomputed block is being replayed here, i.e. its forward runs again inside a backward.

    A custom ``backward`` runs inside a backward too, but replays nothing: a replay of MindSpore's own recompute is told
    by the saved-tensors hooks that it keeps active, one of `ms_compat.recompute` is known. MindSpore's own reentrant
    replay is not told.

    Raises:
        FeatureError: MindSpore cannot tell (before 2.8).
    """
    return is_replaying() or (autodiff_engine_id() >= 0 and bool(pynative_executor().is_saved_tensor_hook_active()))
