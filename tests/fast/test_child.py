"""The child's own code, run in this process so that every message and every limit can be seen."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ms_compat
from ms_compat.probing import child
from tests.standin import write_mindspore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Answer = Callable[..., list[dict[str, Any]]]


class Watchdog:
    """Takes the place of faulthandler: remembers the limits that were set, and what ends with them."""

    def __init__(self) -> None:
        self.limits: list[float | None] = []

    def dump_traceback_later(self, limit: float, *, exit: bool, **_: Any) -> None:  # noqa: A002
        assert exit, "a child that hangs must end itself"
        self.limits.append(limit)

    def cancel_dump_traceback_later(self) -> None:
        self.limits.append(None)


@pytest.fixture
def watchdog(monkeypatch: pytest.MonkeyPatch) -> Watchdog:
    watchdog = Watchdog()
    monkeypatch.setattr(child, "faulthandler", watchdog)
    return watchdog


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The process groups that the child would have ended."""
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "killpg", lambda group, sent: killed.append((group, sent)))
    return killed


@pytest.fixture
def answer(
    watchdog: Watchdog, killed: list[tuple[int, int]], mindspore: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Answer]:
    """Sends a request to the child and returns its messages; the parent stays until the test is over."""
    threads = set(threading.enumerate())
    reading, sending = os.pipe()
    before = os.dup(0)
    os.dup2(reading, 0)
    os.close(reading)
    monkeypatch.setattr(sys, "stdin", open(0, closefd=False))  # noqa: SIM115
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "ms_compat", ms_compat)

    def ask(*probes: str, **changes: Any) -> list[dict[str, Any]]:
        request = {
            "sys_path": list(sys.path),
            "package": str(Path(ms_compat.__file__).parent),
            "location": str(mindspore),
            "device": "CPU",
            "import_limit": 180.0,
            "counterproof": False,
            "mark": "",
            "probes": [[name, f"tests.faults:{name}"] for name in probes],
            **changes,
        }
        os.write(sending, json.dumps(request).encode() + b"\n")
        results, channel = os.pipe()
        child.main(channel)
        with open(results) as messages:
            return [json.loads(line) for line in messages]

    yield ask
    assert killed == []
    os.close(sending)
    for thread in set(threading.enumerate()) - threads:
        thread.join(10)
    assert killed == [(0, signal.SIGKILL)]
    os.dup2(before, 0)
    os.close(before)


def test_every_probe_has_a_start_and_a_result_between_ready_and_done(answer: Answer) -> None:
    messages = answer("healthy", "says_no")
    assert [(said["event"], said.get("name")) for said in messages] == [
        ("ready", None),
        ("start", "healthy"),
        ("result", "healthy"),
        ("start", "says_no"),
        ("result", "says_no"),
        ("done", None),
    ]
    assert messages[0]["seconds"] > 0
    assert messages[4]["measurement"]["verdict"] == "no"
    assert messages[4]["measurement"]["evidence"] == {"stay": 2}
    assert messages[4]["seconds"] >= 0


def test_what_a_probe_raises_is_its_result(answer: Answer) -> None:
    assert answer("raises_terminal_escapes")[2]["measurement"]["verdict"] == "unknown"


def test_the_import_and_every_probe_have_a_limit_of_their_own(answer: Answer, watchdog: Watchdog) -> None:
    answer("healthy", "says_no")
    assert watchdog.limits == [180.0, 10, None, 10, None]


def test_the_package_is_taken_from_where_the_parent_has_it_and_not_from_the_path(answer: Answer) -> None:
    answer(sys_path=[entry for entry in sys.path if not (Path(entry) / "ms_compat").exists()])
    loaded = sys.modules["ms_compat"]
    assert loaded is not ms_compat
    assert loaded.__file__ == ms_compat.__file__


def test_mindspore_is_set_up_for_the_device_asked_for(answer: Answer, mindspore: Path) -> None:
    (mindspore / "__init__.py").write_text(
        "PYNATIVE_MODE = 7\nsaid = []\ndef set_context(mode): said.append(mode)\ndef set_device(x): said.append(x)\n"
    )
    answer(device="Ascend")
    assert sys.modules["mindspore"].said == [7, "Ascend"]


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("1 / 0", "import mindspore: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "import mindspore: SystemExit: 3"),
    ],
)
def test_a_mindspore_that_does_not_start_is_said_and_nothing_is_run(
    answer: Answer, mindspore: Path, capsys: pytest.CaptureFixture[str], code: str, cause: str
) -> None:
    (mindspore / "__init__.py").write_text(code)
    assert answer("healthy") == [{"event": "broken", "cause": cause}]
    assert "Traceback" in capsys.readouterr().err


def test_another_mindspore_than_the_one_asked_about_is_not_measured(answer: Answer, tmp_path: Path) -> None:
    elsewhere = write_mindspore(tmp_path / "elsewhere")
    (said,) = answer("healthy", location=str(elsewhere))
    assert said["event"] == "broken"
    assert f"not the one in {elsewhere}" in said["cause"]


def test_the_counterproof_is_done_where_it_is_asked_for(answer: Answer) -> None:
    (_, _, result, _) = answer("shows_both_answers", counterproof=True)
    assert result["measurement"]["verdict"] == "no"
