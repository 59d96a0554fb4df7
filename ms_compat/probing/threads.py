"""What probes about threads share: work done in another thread, and a context held open in one while this one works."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

__all__ = ["LONGEST_WAIT", "both", "held_elsewhere", "in_a_worker", "inside_a_backward"]

#: Seconds one thread waits for another; reached only where something hangs.
LONGEST_WAIT = 20.0


def in_a_worker(body: Callable[[], Any]) -> Any:
    """Run ``body`` in a thread of its own and return what it returns, or raise what it raises."""
    (result,) = both(body)
    if isinstance(result, BaseException):
        raise result
    return result


def both(*bodies: Callable[[], Any]) -> list[Any]:
    """Run each body in a thread of its own, all at the same time; what one raises is returned in its place."""
    results: list[Any] = [None] * len(bodies)

    def run(place: int) -> None:
        try:
            results[place] = bodies[place]()
        except Exception as error:  # noqa: BLE001 - handed to the caller, who knows what to expect
            results[place] = error

    workers = [threading.Thread(target=run, args=(place,), daemon=True) for place in range(len(bodies))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(LONGEST_WAIT)
        if worker.is_alive():
            raise TimeoutError(f"a worker thread did not end within {LONGEST_WAIT:g} s")
    return results


@contextlib.contextmanager
def held_elsewhere(context: AbstractContextManager[Any]) -> Iterator[None]:
    """While the block runs here, another thread stays inside ``context``, which it entered before."""
    inside, finished = threading.Event(), threading.Event()

    def stay() -> None:
        with context:
            inside.set()
            finished.wait(LONGEST_WAIT)

    worker = threading.Thread(target=stay, daemon=True)
    worker.start()
    try:
        if not inside.wait(LONGEST_WAIT):
            raise TimeoutError("the other thread did not enter its context")
        yield
    finally:
        finished.set()
        worker.join(LONGEST_WAIT)


@contextlib.contextmanager
def inside_a_backward() -> Iterator[None]:
    """While the block runs here, another thread is in the middle of a backward; call it inside ``recording``."""
    from mindspore import ops

    from ms_compat.probing.workloads import backward, leaf

    x = leaf(0.5)
    middle = ops.mul(x, x)
    reached, leave = threading.Event(), threading.Event()

    def hook(gradient: Any) -> Any:
        reached.set()
        leave.wait(LONGEST_WAIT)
        return gradient

    handle = middle.register_hook(hook)
    output = ops.exp(middle)
    worker = threading.Thread(target=backward, args=(output,), daemon=True)
    worker.start()
    try:
        if not reached.wait(LONGEST_WAIT):
            raise TimeoutError("the backward did not reach its hook")
        yield
    finally:
        leave.set()
        worker.join(LONGEST_WAIT)
        handle.remove()
