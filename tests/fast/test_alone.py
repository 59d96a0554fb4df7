from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ms_compat.probing import alone
from ms_compat.probing.alone import change_alone, run_alone


@pytest.fixture(autouse=True)
def _mindspore(mindspore: Path) -> None:
    """There is one to import."""


def test_a_program_has_mindspore_on_this_processs_device() -> None:
    import mindspore  # type: ignore[import-not-found, unused-ignore]

    mindspore.set_device("Ascend")
    ending = run_alone("print(mindspore.get_context('device_target'), mindspore.get_context('mode'))")
    assert ending == (0, f"Ascend {mindspore.PYNATIVE_MODE}\n", "")


def test_a_crash_is_told_by_its_signal_and_leaves_no_core_file() -> None:
    program = (
        "import os, resource; print(resource.getrlimit(resource.RLIMIT_CORE), flush=True); os.kill(os.getpid(), 11)"
    )
    ending = run_alone(program)
    assert ending.signal == signal.SIGSEGV
    assert ending.output == f"{(0, 0)}\n"
    assert resource.getrlimit(resource.RLIMIT_CORE)[1] != 0


def test_an_exception_is_told_by_the_last_line() -> None:
    assert run_alone("print(1); raise ValueError('too far')") == (0, "1\n", "ValueError: too far")


def test_what_is_only_said_on_standard_error_is_no_error() -> None:
    assert run_alone("import sys; print('careful', file=sys.stderr)") == (0, "", "")


def test_a_hang_ends_at_the_limit() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run_alone("import time; time.sleep(60)", seconds=0.5)


def test_this_package_is_there_also_where_it_is_not_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if not (Path(entry) / "ms_compat").is_dir()])
    assert run_alone("import ms_compat; print(ms_compat.Answer.YES.value)") == (0, "yes\n", "")


def test_changes_are_made_before_every_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alone, "_changes", [])
    change_alone("mindspore.answer = 42")
    change_alone("mindspore.answer += 1")
    assert [run_alone("print(mindspore.answer)").output for _ in range(2)] == ["43\n", "43\n"]
