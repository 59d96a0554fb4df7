"""Runs probes: in one spawned child for a batch, which contains crashes and hangs, or on request in this process."""

from __future__ import annotations

import contextlib
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
from typing import IO, TYPE_CHECKING, Any

from ms_compat.feature import ApiMissing
from ms_compat.measurement import Answer, Measurement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ms_compat.build import Build
    from ms_compat.feature import Feature

    Progress = Callable[[str, Measurement | None], None]

__all__ = ["IMPORT_LIMIT", "Batch", "Job", "run_in_child", "run_in_process", "run_probe"]

#: Seconds ``import mindspore`` may take in the child: a cold disk or a network file system needs patience.
IMPORT_LIMIT = 180.0
#: The child ends itself at a probe's limit and says where it hung; this much later it is ended from outside.
_GRACE = 3.0
_POLL = 0.05
_KEPT_STDERR = 8192
_SHOWN_STDERR = 12
_LONGEST_MESSAGE = 2**20

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


def run_in_process(jobs: Sequence[Job], progress: Progress | None = None) -> Batch:
    """Run probes in the caller's own process, for a device that a second process cannot open.

    Nothing is contained here: a crash or a hang is the caller's, time limits are not enforced, and afterwards
    ``mindspore.set_device`` raises because operations have run.
    """
    batch = Batch()
    for job in jobs:
        _tell(progress, job.feature.name, None)
        began = time.perf_counter()
        measurement = batch.measurements[job.feature.name] = run_probe(job.feature)
        batch.seconds[job.feature.name] = time.perf_counter() - began
        _tell(progress, job.feature.name, measurement)
    return batch


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
    running: str | None = None
    batch.children += 1
    with _Child(jobs, build, counterproof) as child:
        child.allow(IMPORT_LIMIT)
        cause: str | None = None
        while cause is None:
            message, cause = child.next_message()
            event = message.get("event")
            if event == "ready":
                batch.import_seconds = batch.import_seconds or float(message["seconds"])
                running = ""
            elif event == "broken":
                cause = str(message["cause"])
            elif event == "start":
                running = str(message["name"])
                child.allow(left[running].feature.time_limit)
                _tell(progress, running, None)
            elif event == "result":
                name = str(message["name"])
                batch.measurements[name] = Measurement.from_json(message["measurement"])
                batch.seconds[name] = float(message["seconds"])
                del left[name]
                running = ""
                _tell(progress, name, batch.measurements[name])
            elif event == "done":
                return []
        cause = f"{cause}{child.last_words()}"
    if running is None:
        # MindSpore did not even start: another child would fare the same.
        batch.measurements.update({name: Measurement.unknown(cause, now()) for name in left})
        return []
    lost = running or next(iter(left))
    batch.measurements[lost] = Measurement.unknown(cause, now())
    _tell(progress, lost, batch.measurements[lost])
    del left[lost]
    return list(left.values())


def _tell(progress: Progress | None, name: str, measurement: Measurement | None) -> None:
    if progress is not None:
        progress(name, measurement)


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
            "probes": [[job.feature.name, job.location] for job in jobs],
        }
        self._stderr = b""
        self._messages: deque[dict[str, Any]] = deque()
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
                os.set_blocking(channel, False)
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
        """Begin the next thing, with this many seconds for it; what was said before belongs to what came before."""
        self._stderr = b""
        self._limit = limit
        self._deadline = time.monotonic() + limit + _GRACE

    def next_message(self) -> tuple[dict[str, Any], str | None]:
        """The next message, or an empty one and the reason why there will be none."""
        while not self._messages:
            # Asked before reading: what a child sent before it ended is in the pipe by then. The end of the pipe says
            # nothing, since a grandchild may hold it.
            status = self._process.poll()
            for key, _ in self._selector.select(_POLL if status is None else 0):
                self._take(key.fd, key.data)
            if self._messages:
                break
            if len(self._partial) > _LONGEST_MESSAGE:
                return {}, "the probe wrote into the result channel"
            if status is not None:
                watchdog_spoke = b"Timeout (" in self._stderr
                return {}, self._too_slow() if watchdog_spoke else f"the child {_ending(status)}"
            if time.monotonic() > self._deadline:
                return {}, self._too_slow()
        return self._messages.popleft(), None

    def last_words(self) -> str:
        """The last lines of the child's standard error, as an appendix to a cause."""
        lines = self._stderr.decode("utf-8", "replace").strip().splitlines()[-_SHOWN_STDERR:]
        return "; its last lines:\n" + "\n".join(lines) if lines else ""

    def _too_slow(self) -> str:
        return f"no answer within {self._limit:g} s"

    def _take(self, descriptor: int, handle: Callable[[bytes], None]) -> None:
        """Hand over what can be read now; bounded, so that a flood on one channel cannot starve the other."""
        for _ in range(64):
            try:
                chunk = os.read(descriptor, 65536)
            except BlockingIOError:
                return
            if not chunk:
                self._selector.unregister(descriptor)
                return
            handle(chunk)

    def _take_results(self, chunk: bytes) -> None:
        *lines, self._partial = (self._partial + chunk).split(b"\n")
        for line in lines:
            # A probe that writes here can break its own answer only: what is no message is dropped.
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict):
                    self._messages.append(message)

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
    here = os.path.realpath(os.getcwd())
    asked_for = {
        os.path.realpath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(entry)
    }
    return [
        entry for entry in sys.path if os.path.isabs(entry) and (os.path.realpath(entry) != here or here in asked_for)
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
