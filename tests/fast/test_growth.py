from __future__ import annotations

import ctypes
import gc
import io
import sys
import types
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from ms_compat.probing import growth
from ms_compat.probing.growth import Growth, host_bytes, live_tensors, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Tensor:
    """Reading anything of it is an error, as reading of a leaked one blocks for ever."""

    def __getattribute__(self, name: str) -> NoReturn:
        raise AssertionError(f"{name} was read")


class Parameter(Tensor):
    pass


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What a workload never lets go; MindSpore's Tensor is the one above."""
    module = types.ModuleType("mindspore")
    monkeypatch.setattr(module, "Tensor", Tensor, raising=False)
    monkeypatch.setitem(sys.modules, "mindspore", module)
    monkeypatch.setattr(growth, "drain", lambda: None)
    kept: list[Any] = []
    yield kept
    kept.clear()


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Host memory in use, set by the workload itself."""
    memory = [1000]
    monkeypatch.setattr(growth, "host_bytes", lambda: memory[0])
    return memory


def use(memory: list[int], amount: int) -> Callable[[], None]:
    def step() -> None:
        memory[0] += amount

    return step


class Pretender:
    """Says of itself that it is a Tensor, as a lazy proxy may."""

    __class__ = Tensor  # type: ignore[assignment]


def test_tensors_are_counted_by_type_and_never_touched(kept: list[Any]) -> None:
    before = live_tensors()
    kept += [Tensor(), Parameter(), [Tensor()], Pretender()]
    assert live_tensors() - before == 3


def test_tensors_in_a_cycle_are_not_alive() -> None:
    before = live_tensors()
    cycle: list[Any] = [Tensor()]
    cycle.append(cycle)
    del cycle
    assert live_tensors() == before


def test_a_workload_that_keeps_two_tensors_per_step_leaks_two(kept: list[Any]) -> None:
    found = measure(lambda: kept.extend([Tensor(), Tensor()]), steps=4)
    assert found.tensors == (2.0, 2.0)
    assert found.tensors_per_step == 2
    assert found.leaks_tensors


def test_a_workload_that_lets_go_leaks_nothing() -> None:
    found = measure(Tensor, steps=4)
    assert found.tensors == (0.0, 0.0)
    assert not found.leaks_tensors


def test_what_the_control_keeps_too_is_no_leak(kept: list[Any]) -> None:
    found = measure(lambda: kept.append(Tensor()), control=lambda: kept.append(Tensor()), steps=4)
    assert not found.leaks_tensors


def test_what_is_kept_once_is_no_leak(kept: list[Any]) -> None:
    """A cache that fills during the first run does not grow in the second."""

    def step() -> None:
        if len(kept) < 5:
            kept.append(Tensor())

    found = measure(step, steps=8, warmup=1)
    assert found.tensors == (0.5, 0.0)
    assert not found.leaks_tensors


def test_the_second_run_is_twice_as_long_and_both_come_after_a_warm_up() -> None:
    steps: list[str] = []
    measure(lambda: steps.append("work"), control=lambda: steps.append("control"), steps=4, warmup=3)
    assert steps == ["control"] * 15 + ["work"] * 15


def test_the_backlog_of_the_pipeline_is_run_off_before_every_count(monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    monkeypatch.setattr(growth, "drain", lambda: happened.append("drain"))
    measure(lambda: happened.append("step"), steps=1, warmup=0)
    assert happened == ["drain", "step", "drain", "drain", "step", "step", "drain"]


def test_what_was_alive_before_is_not_counted_and_can_be_collected_afterwards(kept: list[Any]) -> None:
    kept += [Tensor() for _ in range(9)]
    counts: list[int] = []
    measure(lambda: counts.append(live_tensors()), steps=1, warmup=0)
    assert counts == [0, 0, 0]
    assert gc.get_freeze_count() == 0
    assert live_tensors() == 9


def test_somebody_elses_freeze_stays() -> None:
    gc.freeze()
    try:
        measure(Tensor, steps=1, warmup=0)
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_memory_is_judged_against_the_control(memory: list[int]) -> None:
    found = measure(use(memory, 500), control=use(memory, 400), steps=4)
    assert found.bytes == (100.0, 100.0)
    assert found.bytes_per_step == 100
    assert found.bytes_exceed(99)
    assert not found.bytes_exceed(100)


def test_memory_that_cannot_be_read_is_no_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "host_bytes", lambda: None)
    found = measure(Tensor, control=Tensor, steps=2)
    assert found.bytes is None
    assert not found.bytes_exceed(0)
    assert found.evidence()["bytes_per_step"] is None
    with pytest.raises(OSError, match="does not say how much host memory"):
        _ = found.bytes_per_step


def test_memory_that_is_really_used_is_seen(kept: list[Any]) -> None:
    found = measure(lambda: kept.append(bytearray(1_000_000)), control=lambda: None, steps=4)
    assert found.bytes_exceed(900_000)


def test_the_evidence_is_what_persisted() -> None:
    found = Growth(8, (1.25, 1.0), (120.26, 100.04))
    assert found.evidence() == {"steps": 8, "tensors_per_step": 1.0, "bytes_per_step": 100.0}


class TestHostMemory:
    def test_is_what_the_allocator_says(self) -> None:
        before = host_bytes()
        block = ctypes.create_string_buffer(50_000_000)
        after = host_bytes()
        assert before is not None
        assert after is not None
        assert 45_000_000 < after - before < 60_000_000
        del block

    def test_is_anonymous_memory_where_the_allocator_is_too_old(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
        monkeypatch.setattr(
            growth, "open", lambda *_, **__: io.StringIO("VmRSS: 1 kB\nRssAnon:\t 7 kB\n"), raising=False
        )
        assert host_bytes() == 7 * 1024

    @pytest.mark.parametrize("status", ["", "VmRSS: 1 kB\n"])
    def test_is_not_known_where_the_kernel_does_not_say(self, monkeypatch: pytest.MonkeyPatch, status: str) -> None:
        monkeypatch.setattr(sys, "platform", "darwin")
        monkeypatch.setattr(growth, "open", lambda *_, **__: io.StringIO(status), raising=False)
        assert host_bytes() is None

    def test_is_not_known_where_there_is_no_such_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: Any, **__: Any) -> NoReturn:
            raise FileNotFoundError

        monkeypatch.setattr(sys, "platform", "darwin")
        monkeypatch.setattr(growth, "open", fail, raising=False)
        assert host_bytes() is None
