"""Probes that do what no probe should do, and healthy ones; each name here is the feature with that probe."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import io
import json
import os
import re
import signal
import stat
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from ms_compat.feature import ApiMissing, Finding
from ms_compat.probing.runner import Job
from tests.standin import a_feature

if TYPE_CHECKING:
    from collections.abc import Callable

    from ms_compat.feature import Feature


def job(name: str) -> Job:
    """The job that runs one of these probes."""
    return Job(globals()[name], f"{__name__}:{name}")


def probe(function: Callable[[], Finding]) -> Feature:
    return a_feature(function.__name__, function, time_limit=10)


def hanging_probe(function: Callable[[], Finding]) -> Feature:
    return a_feature(function.__name__, function, time_limit=0.3)


def result_channel() -> int:
    """The descriptor on which the child sends its results, as a probe could find it: the other pipe for writing."""
    standard_error = os.fstat(2).st_ino
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            found = os.fstat(descriptor)
            for_writing = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_WRONLY
            if stat.S_ISFIFO(found.st_mode) and for_writing and found.st_ino != standard_error:
                return descriptor
    raise LookupError("there is no other pipe")


def write(text: str) -> Finding:
    data = memoryview(text.encode())
    while data:
        data = data[os.write(result_channel(), data) :]
    return Finding(True, "written")


def fork() -> int | None:
    """A grandchild that holds every descriptor of the child; its process id, or None in the grandchild itself."""
    return os.fork() or None


@probe
def healthy() -> Finding:
    return Finding(True, "fine", {"pid": os.getpid()})


@probe
def still_healthy() -> Finding:
    return Finding(True, "fine", {"pid": os.getpid()})


@probe
def says_no() -> Finding:
    return Finding(False, "2 of 3 stay", {"stay": 2})


@probe
def misses_an_api() -> Finding:
    raise ApiMissing("mindspore.mend")


@hanging_probe
def hangs_in_python() -> Finding:
    while True:
        time.sleep(60)


@hanging_probe
def hangs_holding_the_interpreter() -> Finding:
    re.match(r"(a+)+$", "a" * 60 + "b")
    return Finding(True, "matched")


@hanging_probe
def hangs_in_a_lock() -> Finding:
    threading.Lock().acquire()
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
    return Finding(True, "acquired twice")


@hanging_probe
def waits_for_input() -> Finding:
    return Finding(True, sys.stdin.readline())


@hanging_probe
def stops_itself() -> Finding:
    os.kill(os.getpid(), signal.SIGSTOP)
    return Finding(True, "went on")


@probe
def segfaults() -> Finding:
    ctypes.string_at(0)
    return Finding(True, "read from nowhere")


@probe
def aborts() -> Finding:
    os.abort()


@probe
def dies_by_a_signal_without_a_name() -> Finding:
    os.kill(os.getpid(), 40)
    return Finding(True, "survived")


@probe
def exits_at_once() -> Finding:
    sys.stderr.write("first words\nlast words\n")
    sys.stderr.flush()
    os._exit(7)


@probe
def exits_at_once_with_success() -> Finding:
    os._exit(0)


@probe
def exits() -> Finding:
    sys.exit(3)


@probe
def interrupts_itself() -> Finding:
    raise KeyboardInterrupt


@probe
def raises_terminal_escapes() -> Finding:
    raise RuntimeError("\x1b[31mred\x1b]0;title\x07")


@probe
def runs_out_of_memory() -> Finding:
    return Finding(True, str(len(bytearray(2**62))))


@probe
def recurses_for_ever() -> Finding:
    return recurses_for_ever.probe()


@probe
def returns_nothing() -> Finding:
    return None  # type: ignore[return-value]


@probe
def finds_half_a_character() -> Finding:
    return Finding(True, "\ud800", {"\udfff": "\ud800"})


@probe
def floods_both_streams() -> Finding:
    for _ in range(64):
        os.write(1, b"x" * 65536)
        os.write(2, b"y" * 65536)
    return Finding(True, "flooded")


@probe
def floods_and_dies() -> Finding:
    os.write(2, b"y" * 1_000_000 + b"\nlast words\n")
    os._exit(7)


@probe
def leaves_a_grandchild() -> Finding:
    pid = fork()
    if pid is None:
        time.sleep(60)
        os._exit(0)
    return Finding(True, "forked", {"pid": pid})


@probe
def leaves_a_grandchild_and_dies() -> Finding:
    if fork() is None:
        time.sleep(60)
        os._exit(0)
    os._exit(5)


@probe
def forks_and_both_go_on() -> Finding:
    return Finding(True, "forked", {"pid": fork()})


@probe
def closes_the_standard_streams() -> Finding:
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    return Finding(True, "closed")


@probe
def closes_standard_error_for_python() -> Finding:
    sys.stderr.close()
    return Finding(True, "closed")


@probe
def replaces_standard_error() -> Finding:
    sys.stderr = io.StringIO()
    return Finding(True, "replaced")


@probe
def closes_every_descriptor() -> Finding:
    os.closerange(0, 256)
    return Finding(True, "closed")


@probe
def sends_garbage() -> Finding:
    return write("garbage\n[1]\n{\n\n7\n{}\n")


@probe
def sends_half_a_line() -> Finding:
    return write("garbage")


@probe
def sends_garbage_without_end() -> Finding:
    write("x" * (2**20 + 1))
    time.sleep(60)
    return Finding(True, "written")


def forged(**message: Any) -> Feature:
    return a_feature("forges_a_message", lambda: write(json.dumps(message) + "\n"), time_limit=10)


starts_what_there_is_not = forged(event="start", name="nonsense")
starts_nothing = forged(event="start")
ends_what_there_is_not = forged(event="result", name="nonsense", seconds=1, measurement={})
ends_in_no_measurement = forged(event="result", name="forges_a_message", seconds=1, measurement={"verdict": []})
ends_in_no_time = forged(event="result", name="forges_a_message", seconds="x", measurement={})
is_ready_in_no_time = forged(event="ready")
breaks_without_a_cause = forged(event="broken")
says_all_is_done = forged(event="done")


def die_at(event: str) -> None:
    """Let the child die when it is about to send this kind of message."""
    dumps = json.dumps

    def dumps_or_dies(message: dict[str, Any]) -> str:
        return os._exit(9) if message["event"] == event else dumps(message)

    json.dumps = dumps_or_dies  # type: ignore[assignment]


@probe
def dies_before_the_next_one() -> Finding:
    die_at("start")
    return Finding(True, "answered")


@probe
def dies_at_the_end() -> Finding:
    die_at("done")
    return Finding(True, "answered")


@hanging_probe
def hangs_deep_down() -> Finding:
    def descend(depth: int) -> None:
        descend(depth - 1) if depth else time.sleep(60)

    threading.Thread(target=descend, args=(200,), daemon=True).start()
    descend(200)
    return Finding(True, "came up again")


@probe
def looks_at_the_environment() -> Finding:
    seen = ("RANK_ID", "MS_ROLE", "LOCAL_RANK", "ASCEND_RT_VISIBLE_DEVICES", "STANDIN_KEPT", "PYTHONPATH")
    return Finding(True, "seen", {name: os.environ.get(name) for name in seen} | {"cwd": os.getcwd()})


def wait_a_minute() -> Finding:
    time.sleep(60)
    return Finding(True, "waited")


waits_a_minute = a_feature("waits_a_minute", wait_a_minute)


@probe
def leaves_a_grandchild_and_waits() -> Finding:
    pid = fork()
    if pid is not None:
        with open(os.environ["STANDIN_MARK"], "a") as mark:
            mark.write(f"{pid}\n")
    return wait_a_minute()


repaired = [True]
shows_both_answers = a_feature(
    "shows_both_answers", lambda: Finding(repaired[0], "as it is"), counterproof=lambda: repaired.__setitem__(0, False)
)
