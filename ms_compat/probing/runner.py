"""Runs probes: in one spawned child for a batch, which contains crashes and hangs, or on request in this process."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import IO, TYPE_CHECKING

from ms_compat.errors import MsCompatError
from ms_compat.feature import ApiMissing
from ms_compat.measurement import Answer, Measurement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ms_compat.build import Build
    from ms_compat.feature import Feature

    Progress = Callable[[str, Measurement | None], None]

__all__ = ["IMPORT_LIMIT", "Batch", "Job", "run_in_child", "run_in_process", "run_probe"]

#: Seconds ``import mindspore`` may take in the child: a cold disk or a network file system needs patience.
IMPORT_LIMIT = 180.0
#: The child ends itself at a probe's limit and says where it hung; this much later it is ended from outside.
_GRACE = 3.0
_POLL = 0.05
_KEPT_STDERR = 65536
_SHOWN_STDERR = 12
_LONGEST_STDERR = 3000
#: The child writes it to standard error before each probe: what was said before belongs to what came before.
_MARK = "\x00ms_compat\x00\n"
_LONGEST_MESSAGE = 2**20
#: What a pipe holds at most where nobody enlarged it: 16 pages, of up to 64 KiB.
_LARGEST_PIPE = 2**20

#: What launchers, schedulers and device runtimes put into the environment. A probing child that saw them would join
#: the job, or wait for it.
_LAUNCHER_PREFIXES = (
    "MS_", "MINDSPORE_", "RANK", "DEVICE_", "LOCAL_", "WORLD_", "NODE_", "MASTER_", "GROUP_", "SERVER_",
    "HCCL_", "HCCP_", "ASCEND_DEVICE", "ASCEND_RT_VISIBLE", "ASCEND_VISIBLE", "CUDA_VISIBLE", "NCCL_", "GLOO_",
    "OMPI_", "PMI_", "PMIX_", "MPI_", "MPIEXEC_", "HYDRA_", "SLURM_", "TORCHELASTIC_", "PET_", "CM_", "GLOG_",
    "COVERAGE_",
)  # fmt: skip
_KEPT_ON_DEVICE = ("ASCEND_DEVICE", "ASCEND_RT_VISIBLE", "ASCEND_VISIBLE", "CUDA_VISIBLE")


@dataclass(frozen=True, slots=True)
class Job:
    """One probe to run.

    Attributes:
        feature: the feature whose probe runs.
        location: ``module:attribute`` under which the child finds it.
    """

    feature: Feature
    location: str


@dataclass(slots=True)
class Batch:
    """What a run of probes gave.

    Attributes:
        measurements: by feature name; one for each job.
        seconds: what each probe that ended took.
        import_seconds: what importing MindSpore took in the first child.
        children: how many children it needed; one unless something crashed.
    """

    measurements: dict[str, Measurement] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    import_seconds: float | None = None
    children: int = 0


def now() -> str:
    """This moment in UTC, ISO 8601 to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def run_probe(feature: Feature, *, counterproof: bool = False) -> Measurement:
    """Run one probe in this process; whatever it raises becomes an unknown with the cause.

    Args:
        feature: the feature to measure.
        counterproof: change MindSpore first so that the probe must give the other answer.
    """
    try:
        if counterproof and feature.counterproof is not None:
            feature.counterproof()
        return Measurement.of(feature.probe(), now())
    except ApiMissing as missing:
        return Measurement(Answer.NO, str(missing), {"missing_api": missing.api}, now())
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - the probe of another package may raise anything, even SystemExit
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(last.filename)}:{last.lineno}"
        return Measurement.unknown(f"the probe raised {type(error).__name__} in {where}: {error}", now())


def run_in_process(jobs: Sequence[Job], device: str, progress: Progress | None = None) -> Batch:
    """Run probes in the caller's own process, for a device that a second process cannot open.

    Nothing is contained here: a crash or a hang is the caller's, time limits are not enforced, and afterwards
    ``mindspore.set_device`` raises because operations have run.

    Raises:
        MsCompatError: MindSpore runs on another device target here and cannot change it any more.
    """
    batch = Batch()
    with _on_device(device):
        for job in jobs:
            _tell(progress, job.feature.name, None)
            began = time.perf_counter()
            measurement = batch.measurements[job.feature.name] = run_probe(job.feature)
            batch.seconds[job.feature.name] = time.perf_counter() - began
            _tell(progress, job.feature.name, measurement)
    return batch


@contextlib.contextmanager
def _on_device(device: str) -> Iterator[None]:
    """PyNative mode on a device target, which is what the answers are going to be kept for; the mode is set back."""
    mindspore = importlib.import_module("mindspore")
    found = mindspore.get_context("device_target")
    if found != device:
        try:
            mindspore.set_device(device)
        except Exception as error:
            raise MsCompatError(f"expected a MindSpore that runs on {device}, found one on {found}: {error}") from error
    mode = mindspore.get_context("mode")
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    try:
        yield
    finally:
        mindspore.set_context(mode=mode)


def run_in_child(
    jobs: Sequence[Job], build: Build, *, counterproof: bool = False, progress: Progress | None = None
) -> Batch:
    """Run probes in a spawned child. What goes wrong in one costs that one's answer and nothing else.

    Args:
        jobs: the probes.
        build: the MindSpore they are about; the child refuses to measure another one.
        counterproof: change MindSpore before each probe so that it must give the other answer.
        progress: called with a name and None when its probe starts, with its measurement when it ends.
    """
    batch = Batch()
    waiting = list(jobs)
    while waiting:
        waiting = _one_child(waiting, build, counterproof, progress, batch)
    return batch


def _one_child(jobs: list[Job], build: Build, counterproof: bool, progress: Progress | None, batch: Batch) -> list[Job]:
    """Run jobs in one child until it is done or lost; returns the jobs that are still to run."""
    left = {job.feature.name: job for job in jobs}
    started: set[str] = set()
    ready = False
    batch.children += 1
    with contextlib.ExitStack() as stack:
        try:
            child = stack.enter_context(_Child(jobs, build, counterproof))
        except OSError as error:
            cause = f"no probing child could be started: {error}"
            batch.measurements.update({name: Measurement.unknown(cause, now()) for name in left})
            return []
        child.allow(IMPORT_LIMIT)
        while True:
            message, ended = child.next_message()
            if message is None:
                break
            if message.event == "ready":
                batch.import_seconds = batch.import_seconds or message.seconds
                ready = True
            elif message.event == "broken":
                ended = message.cause
                break
            elif message.event == "done":
                ended = "the probe's answer was lost: something else was written into the result channel"
                break
            elif message.name not in left:
                # Not the child's own words: something that a probe did wrote them.
                continue
            elif message.event == "start":
                started.add(message.name)
                child.allow(left[message.name].feature.time_limit)
                _tell(progress, message.name, None)
            else:
                batch.measurements[message.name] = message.measurement
                batch.seconds[message.name] = message.seconds
                del left[message.name]
                _tell(progress, message.name, message.measurement)
        cause = f"{ended}{child.last_words()}"
    if ready:
        lost = [name for name in left if name in started]
        if not lost and len(left) == len(jobs):
            # It ended before its first probe; without a loss here it could go on like that for ever.
            lost = list(left)[:1]
    else:
        # MindSpore did not even start: another child would fare the same.
        lost = list(left)
    for name in lost:
        batch.measurements[name] = Measurement.unknown(cause, now())
        del left[name]
        if ready:
            _tell(progress, name, batch.measurements[name])
    return list(left.values())


def _tell(progress: Progress | None, name: str, measurement: Measurement | None) -> None:
    if progress is not None:
        progress(name, measurement)


@dataclass(frozen=True, slots=True)
class _Message:
    event: str
    name: str
    cause: str
    seconds: float
    measurement: Measurement

    @classmethod
    def read(cls, line: bytes) -> _Message:
        """Read one line of the result channel.

        Raises:
            ValueError, TypeError, LookupError, RecursionError: it is no message.
        """
        said = json.loads(line)
        if not isinstance(said, dict) or said.get("event") not in ("ready", "broken", "start", "result", "done"):
            raise ValueError("no message")
        return cls(
            said["event"],
            str(said.get("name")),
            str(said.get("cause")),
            float(said.get("seconds", 0.0)),
            Measurement.from_json(said["measurement"]) if said["event"] == "result" else Measurement.unknown(""),
        )


class _Child:
    """A spawned child in its own session and scratch folder; gone, with all it started, when the block ends."""

    def __init__(self, jobs: Sequence[Job], build: Build, counterproof: bool) -> None:
        self._request = {
            "sys_path": child_path(),
            "package": os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
            "location": build.location,
            "device": build.device_target,
            "import_limit": IMPORT_LIMIT,
            "counterproof": counterproof,
            "mark": _MARK,
            "probes": [[job.feature.name, job.location] for job in jobs],
        }
        self._stderr = b""
        self._messages: deque[_Message] = deque()
        self._partial = b""
        self._deadline = 0.0
        self._limit = 0.0

    def __enter__(self) -> _Child:
        with contextlib.ExitStack() as stack:
            scratch = tempfile.mkdtemp(prefix="ms_compat-")
            stack.callback(shutil.rmtree, scratch, ignore_errors=True)
            self._results, sending = os.pipe()
            stack.callback(os.close, self._results)
            try:
                self._process = _spawn(sending, scratch, str(self._request["device"]))
            finally:
                os.close(sending)
            stack.callback(self._end)
            self._selector = stack.enter_context(selectors.DefaultSelector())
            stderr = _pipe(self._process.stderr)
            for channel, take in ((self._results, self._take_results), (stderr.fileno(), self._take_stderr)):
                self._selector.register(channel, selectors.EVENT_READ, take)
            with contextlib.suppress(BrokenPipeError):
                stdin = _pipe(self._process.stdin)
                stdin.write(json.dumps(self._request).encode() + b"\n")
                stdin.flush()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def allow(self, limit: float) -> None:
        """Begin the next thing, with this many seconds for it."""
        self._limit = limit
        self._deadline = time.monotonic() + limit + _GRACE

    def next_message(self) -> tuple[_Message | None, str]:
        """The next message, or None and the reason why there will be none."""
        while not self._messages:
            # Asked before reading: what a child sent before it ended is in the pipe by then. The end of the pipe says
            # nothing, since a grandchild may hold it.
            status = self._process.poll()
            for key, _ in self._selector.select(_POLL if status is None else 0):
                self._take(key.fd, key.data)
            if self._messages:
                break
            if len(self._partial) > _LONGEST_MESSAGE:
                return None, "the probe wrote into the result channel"
            if status is not None:
                watchdog_spoke = b"Timeout (" in self._said()
                return None, self._too_slow() if watchdog_spoke else f"the child {_ending(status)}"
            if time.monotonic() > self._deadline:
                return None, self._too_slow()
        return self._messages.popleft(), ""

    def last_words(self) -> str:
        """The last lines of the child's standard error, as an appendix to a cause."""
        said = self._said().decode("utf-8", "replace").strip()[-_LONGEST_STDERR:]
        return "; its last lines:\n" + "\n".join(said.splitlines()[-_SHOWN_STDERR:]) if said else ""

    def _said(self) -> bytes:
        return self._stderr.rpartition(_MARK.encode())[2]

    def _too_slow(self) -> str:
        return f"no answer within {self._limit:g} s"

    def _take(self, descriptor: int, handle: Callable[[bytes], None]) -> None:
        """Hand over what a pipe holds now, and no more: a flood on one channel cannot starve the other."""
        chunk = os.read(descriptor, _LARGEST_PIPE)
        if chunk:
            handle(chunk)
        else:
            self._selector.unregister(descriptor)

    def _take_results(self, chunk: bytes) -> None:
        *lines, self._partial = (self._partial + chunk).split(b"\n")
        for line in lines:
            # A probe that writes here can break its own answer only: what is no message is dropped.
            with contextlib.suppress(ValueError, TypeError, LookupError, RecursionError):
                self._messages.append(_Message.read(line))

    def _take_stderr(self, chunk: bytes) -> None:
        self._stderr = (self._stderr + chunk)[-_KEPT_STDERR:]

    def _end(self) -> None:
        """Kill the child's whole session, so that nothing it started stays behind."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stderr):
            with contextlib.suppress(BrokenPipeError):
                _pipe(pipe).close()


def _spawn(sending: int, scratch: str, device: str) -> subprocess.Popen[bytes]:
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child.py")
    # -I: no PYTHON* variable, user site or script folder decides what the child runs.
    flags = ["-I", *(["-B"] if sys.dont_write_bytecode else [])]
    return subprocess.Popen(
        [sys.executable, *flags, script, str(sending)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=(sending,),
        cwd=scratch,
        env=child_environment(os.environ, device),
        start_new_session=True,
    )


def child_environment(environ: Mapping[str, str], device: str) -> dict[str, str]:
    """The environment for a probing child: this one without launcher, rank and (on CPU) device variables."""
    kept = () if device == "CPU" else _KEPT_ON_DEVICE
    return {
        name: value
        for name, value in environ.items()
        if name.startswith(kept or ("\0",)) or not name.startswith(_LAUNCHER_PREFIXES)
    }


def child_path() -> list[str]:
    """``sys.path`` for a probing child: this one without the current directory, unless it was asked for by name.

    A folder called ``mindspore`` that happens to lie where the user stands must not be run.
    """
    try:
        here = os.path.realpath(os.getcwd())
    except FileNotFoundError:
        here = ""  # the folder was removed: nothing in it can be run
    asked_for = {
        os.path.realpath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(entry)
    }
    return [
        entry
        for entry in sys.path
        # Python itself does not search what is no text either, e.g. a pathlib.Path.
        if isinstance(entry, str) and os.path.isabs(entry) and (os.path.realpath(entry) != here or here in asked_for)
    ]


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _ending(status: int) -> str:
    if status >= 0:
        return f"ended itself with exit code {status}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"was ended by signal {-status}"
