"""What a custom backward needs from its forward and cannot keep in ``ctx``, balanced however the forward runs."""

from __future__ import annotations

import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ms_compat.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ForwardStash"]

T = TypeVar("T")


class _Framework(Frozen):
    """What the stash needs to know of MindSpore or torch."""

    make_key: Callable[[int], Any]
    read_key: Callable[[Any], int]
    #: The id of the backward this code runs in, -1 in a forward.
    engine_id: Callable[[], int]
    #: Calls a function when the running backward ends.
    at_end: Callable[[Callable[[], None]], None]
    #: Whether the block that runs here is known to run for the first time, though a backward is under way.
    first_run: Callable[[], bool]


class ForwardStash(Generic[T]):
    """Entries pushed by forwards and popped by their backwards.

    A stack that is pushed in the forward and popped in the backward breaks under recompute, where a forward runs twice
    and its backward once: the stack grows, or it hands the first run's entry (its random state, its outputs) to the
    backward of the second. Here the entry is found through autograd itself. ``push`` returns a key, a small integer
    Tensor that the forward saves like any other::

        def forward(ctx, x):
            y, cache = attention(x)
            ctx.save_for_backward(x, stash.push(cache))
            return y

        def backward(ctx, grad):
            x, key = ctx.saved_tensors
            cache = stash.pop(key)

    Whatever saves and replays tensors (recompute, nested recompute, several micro-batches in flight) hands the
    backward the key of the very forward whose outputs it differentiates. An entry lives as long as its key does: a
    forward whose graph is dropped (evaluation, an exception half way, the first run of a recomputed block) leaves
    nothing behind. What a replay pushed and nobody popped is dropped when its backward ends.

    Args:
        framework: ``"mindspore"`` or ``"torch"`` (2.4 or newer); None takes the one that is imported.

    Raises:
        ValueError: another framework, or None while not exactly one of the two is imported.
    """

    def __init__(self, framework: str | None = None) -> None:
        self._name = framework
        self._framework = _framework(framework) if framework else None
        self._entries: dict[int, T] = {}
        # What replays pushed, by backward: their keys come back as other objects, so that their life says nothing.
        self._replayed: dict[tuple[int, int], set[int]] = {}
        self._next = 0
        self._lock = threading.RLock()

    def push(self, entry: T, ctx: object = None) -> Any:
        """Keep an entry; called in a forward, or in its replay.

        Args:
            entry: what the backward will need.
            ctx: the function's context, to be given where saved-tensors hooks may copy what is saved (offloading). The
                key that comes back is another object then, so the entry lives as long as the context as well. The
                price: under MindSpore's own recompute the first run's entry stays until the backward is over.

        Returns:
            The key: an integer Tensor of shape () on the host, to be saved with ``ctx.save_for_backward``.
        """
        framework = self._framework_in_use()
        engine_id = framework.engine_id()
        with self._lock:
            number, self._next = self._next, self._next + 1
            self._entries[number] = entry
        key = framework.make_key(number)
        if engine_id >= 0 and not framework.first_run():
            self._keep_for_backward(framework, engine_id, number)
        else:
            if engine_id < 0:
                self._drop_lost()
            weakref.finalize(key if ctx is None else ctx, self._drop, number).atexit = False
        return key

    def pop(self, key: Any) -> T:
        """Take out the entry of a key that came back from ``ctx.saved_tensors``.

        Raises:
            KeyError: the entry was taken already (use `peek` for all but the last backward of a retained graph), or
                the key was not saved with ``ctx.save_for_backward``.
        """
        return self._find(key, self._take)

    def peek(self, key: Any) -> T:
        """The entry of a key, left in place for another backward of a retained graph.

        Raises:
            KeyError: as for `pop`.
        """
        return self._find(key, self._entries.__getitem__)

    def __len__(self) -> int:
        """How many entries are kept."""
        return len(self._entries)

    def _keep_for_backward(self, framework: _Framework, engine_id: int, number: int) -> None:
        backward = threading.get_ident(), engine_id
        with self._lock:
            if backward not in self._replayed:
                self._replayed[backward] = set()
                framework.at_end(lambda: self._drop_replayed(backward))
            self._replayed[backward].add(number)

    def _drop_replayed(self, backward: tuple[int, int]) -> None:
        with self._lock:
            for number in self._replayed.pop(backward, ()):
                self._entries.pop(number, None)

    def _drop_lost(self) -> None:
        """Drop what replays of this thread left; called in a forward: an exception ended their backward."""
        for backward in [one for one in self._replayed if one[0] == threading.get_ident()]:
            self._drop_replayed(backward)

    def _find(self, key: Any, find: Callable[[int], T]) -> T:
        number = self._framework_in_use().read_key(key)
        with self._lock:
            if number not in self._entries:
                raise KeyError(
                    f"no entry {number}: it was popped already (peek leaves it for another backward of a retained "
                    "graph), or its key was not saved with ctx.save_for_backward and went with the forward"
                )
            return find(number)

    def _take(self, number: int) -> T:
        for mine in self._replayed.values():
            mine.discard(number)
        return self._entries.pop(number)

    def _drop(self, number: int) -> None:
        with self._lock:
            self._entries.pop(number, None)

    def _framework_in_use(self) -> _Framework:
        if self._framework is None:
            imported = [name for name in ("mindspore", "torch") if name in sys.modules]
            if len(imported) != 1:
                found = " and ".join(imported) or "neither"
                raise ValueError(f"ForwardStash(framework=...) must say mindspore or torch: {found} is imported")
            self._framework = _framework(imported[0])
        return self._framework


def _framework(name: str) -> _Framework:
    if name == "mindspore":
        return _mindspore()
    if name == "torch":
        return _torch()
    raise ValueError(f"framework: expected 'mindspore' or 'torch', found {name!r}")


def _mindspore() -> _Framework:
    import numpy as np
    from mindspore import Tensor

    from ms_compat.moved import pynative_executor
    from ms_compat.shims.random_outputs import in_first_run

    executor = pynative_executor()
    return _Framework(
        make_key=lambda number: Tensor(np.int64(number)),
        read_key=lambda key: int(key.asnumpy()),
        # Before 2.8 there is no such call, and no recompute whose replay has to be told apart.
        engine_id=getattr(executor, "get_current_autodiff_engine_id", lambda: -1),
        at_end=executor.queue_backward_final_callback,
        first_run=in_first_run,
    )


def _torch() -> _Framework:
    import torch

    return _Framework(
        make_key=torch.tensor,
        read_key=lambda key: int(key.item()),
        engine_id=torch._C._current_graph_task_id,
        at_end=torch.autograd.Variable._execution_engine.queue_callback,
        first_run=lambda: False,
    )
