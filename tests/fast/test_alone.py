from __future__ import annotations

import resource
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from ms_compat.probing.alone import run_alone

if TYPE_CHECKING:
    from pathlib import Path


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
