"""What grows per step: live Tensors and host memory, judged against a control and over a longer second run.

Tensors are counted by type and never touched: a Tensor that MindSpore leaked may be an output that never resolves,
and reading any attribute of it blocks for ever. Host memory on CPU MindSpore grows a few KiB per gradient call with
no bug in play, so a figure in bytes says something only beside a control of the same shape.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ms_compat.probing.workloads import drain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Growth", "host_bytes", "live_tensors", "measure"]

#: Python 3.12 starts with a few hundred frozen objects of its own (375 in 3.12.1); others start with none.
_FROZEN_AT_START = 1000
#: Below this many Tensors per step a series counts as flat: a real leak is at least one Tensor in some steps.
_FLAT_TENSORS = 0.05


def live_tensors() -> int:
    """How many MindSpore Tensors the garbage collector knows of, counted by type only."""
    from mindspore import Tensor

    gc.collect()
    return sum(issubclass(type(candidate), Tensor) for candidate in gc.get_objects())


def _anonymous_bytes() -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    raise OSError("/proc/self/status has no RssAnon line")


class _Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    ]


def _allocated_bytes() -> int | None:
    """Bytes in use according to glibc's allocator (2.33 and newer), None elsewhere."""
    if sys.platform != "linux":
        return None
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return None
    mallinfo2.restype = _Mallinfo2
    info = mallinfo2()
    return int(info.uordblks) + int(info.hblkhd)


def host_bytes() -> int | None:
    """Host memory in use in bytes: the allocator's own figure where there is one, else anonymous memory, else None."""
    allocated = _allocated_bytes()
    if allocated is not None:
        return allocated
    try:
        return _anonymous_bytes()
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class Growth:
    """Growth per step of a workload beyond its control, in a run and in a second run twice as long.

    Attributes:
        steps: steps of the first run; the second takes twice as many.
        tensors: live Tensors gained per step in each of the two runs, control subtracted.
        bytes: host memory gained per step in each run in bytes, control subtracted; None where it cannot be read.
    """

    steps: int
    tensors: tuple[float, float]
    bytes: tuple[float, float] | None

    @property
    def tensors_per_step(self) -> float:
        """Live Tensors gained per step that persisted: the smaller of the two runs."""
        return min(self.tensors)

    @property
    def leaks_tensors(self) -> bool:
        """Whether Tensors pile up in both runs."""
        return self.tensors_per_step > _FLAT_TENSORS

    @property
    def bytes_per_step(self) -> float:
        """Host memory gained per step in bytes that persisted: the smaller of the two runs.

        Raises:
            OSError: the platform does not say how much is in use.
        """
        if self.bytes is None:
            raise OSError("this platform does not say how much host memory is in use")
        return min(self.bytes)

    def bytes_exceed(self, threshold: float) -> bool:
        """Whether host memory grew by more than ``threshold`` bytes per step in both runs."""
        return self.bytes is not None and min(self.bytes) > threshold

    def evidence(self) -> dict[str, int | float | str | bool | None]:
        """The figures as flat evidence."""
        return {
            "steps": self.steps,
            "tensors_per_step": round(self.tensors_per_step, 3),
            "bytes_per_step": None if self.bytes is None else round(min(self.bytes), 1),
        }


@contextlib.contextmanager
def _small_heap() -> Iterator[None]:
    """Hide from the collector what is alive already: a count then takes microseconds instead of 0.1 s.

    A Tensor that goes away meanwhile although it was there before is not noticed; that happens once and not per step.
    """
    if gc.get_freeze_count() > _FROZEN_AT_START:  # somebody else's freeze, which unfreezing would undo
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _standing() -> tuple[int, int | None]:
    drain()  # without it the backlog of the pipeline counts as growth: up to 3 Tensors a step
    return live_tensors(), host_bytes()


def _run(step: Callable[[], object], steps: int) -> tuple[float, float | None]:
    tensors, memory = _standing()
    for _ in range(steps):
        step()
    tensors_after, memory_after = _standing()
    gained = (tensors_after - tensors) / steps
    return gained, None if memory is None or memory_after is None else (memory_after - memory) / steps


def measure(
    step: Callable[[], object], *, control: Callable[[], object] | None = None, steps: int = 8, warmup: int = 3
) -> Growth:
    """Run a workload and its control and report what persists.

    Args:
        step: one step of the workload; what it returns is dropped.
        control: the same shape of work without the suspect, or None to compare with nothing.
        steps: steps of the first run; the second is twice as long.
        warmup: steps of each that are run before anything is counted.
    """
    runs: dict[bool, list[tuple[float, float | None]]] = {}
    with _small_heap():
        for is_control, work in ((True, control), (False, step)):
            if work is None:
                continue
            for _ in range(warmup):
                work()
            runs[is_control] = [_run(work, steps), _run(work, 2 * steps)]
    baseline = runs.get(True, [(0.0, 0.0), (0.0, 0.0)])
    tensors = tuple(mine[0] - base[0] for mine, base in zip(runs[False], baseline, strict=True))
    memory = [
        mine[1] - base[1]
        for mine, base in zip(runs[False], baseline, strict=True)
        if mine[1] is not None and base[1] is not None
    ]
    return Growth(steps, (tensors[0], tensors[1]), (memory[0], memory[1]) if len(memory) == 2 else None)
