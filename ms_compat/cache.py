"""The per-user cache of what was probed here: locked, atomic, validated, and never trusted blindly.

A cache that cannot be trusted is a miss with one warning. It is never an error: what it would have answered is probed
again.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import stat
import warnings
import zlib
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ms_compat.errors import CacheWarning
from ms_compat.files import replace_text
from ms_compat.measurement import Answer, Measurement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ms_compat.build import Build

__all__ = ["Cache", "Cached"]

SCHEMA = 1
_LARGEST_FILE = 4 * 2**20
#: How long a probe that failed is not tried again. Without a limit a slow moment would be remembered for ever; without
#: keeping it at all, every rank would run into the same crash.
_UNKNOWN_EXPIRES = 3600.0

_log = logging.getLogger("ms_compat")


class Cached:
    """What the cache holds for a build.

    Attributes:
        notes: why anything in it is not used, each a sentence; grows as features are looked up.
    """

    def __init__(self, rows: Mapping[str, Any], notes: Iterable[str] = ()) -> None:
        self._rows = rows
        self.notes: list[str] = []
        for note in notes:
            self._note(note)

    def find(self, name: str, digest: str) -> Measurement | None:
        """The usable measurement of a feature, or None.

        Args:
            name: the feature.
            digest: of the feature's own source; what another source measured is not used.
        """
        row = self._rows.get(name)
        if row is None:
            return None
        measurement = Measurement.from_json(row)
        if row.get("digest") != digest:
            self._note(f"the probe of {name} has changed since it was cached")
        elif measurement.answer is Answer.UNKNOWN and _expired(measurement):
            self._note(f"{name} could not be measured more than an hour ago and is tried again")
        else:
            return measurement
        return None

    def __len__(self) -> int:
        return len(self._rows)

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)
            _log.info("cache: %s", note)


class _Distrusted(Exception):
    """The cache is not what this package wrote for this user."""


class Cache:
    """Measurements of one user on one machine, a file for each place where a MindSpore is installed.

    Args:
        folder: the directory; None takes the user's own cache directory.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._chosen = folder
        self._warned: set[str] = set()

    @property
    def folder(self) -> str:
        """The directory of the cache; it need not exist."""
        if self._chosen is None:
            import platformdirs

            self._chosen = platformdirs.user_cache_dir("ms_compat", appauthor=False)
        return self._chosen

    def path(self, build: Build) -> str:
        """The file for the place where a build is installed."""
        place = repr((build.location, build.python, build.device_target)).encode()
        return os.path.join(self.folder, f"verdicts-{zlib.crc32(place):08x}.json")

    def read(self, build: Build) -> Cached:
        """What is cached for exactly this build; its notes say why it is less than somebody may expect."""
        path = self.path(build)
        try:
            self._check_folder()
            data = _parse(_read_trusted(path))
        except FileNotFoundError:
            return Cached({})
        except (_Distrusted, OSError, ValueError, RecursionError) as error:
            note = f"the cache {path} is not used: {error}"
            self._warn(note)
            return Cached({}, [note])
        differences = _differences(data["build"], build.identity())
        return Cached({} if differences else data["features"], differences)

    def write(self, build: Build, digests: Mapping[str, str], measurements: Mapping[str, Measurement]) -> None:
        """Add measurements of a build; what is cached for another build in the same place is dropped."""
        kept: dict[str, Any] = {}
        with contextlib.suppress(_Distrusted, OSError, ValueError, RecursionError):
            data = _parse(_read_trusted(self.path(build)))
            if data["build"] == build.identity():
                kept = data["features"]
        for name, measurement in measurements.items():
            kept[name] = {"digest": digests[name], **measurement.as_json()}
        text = json.dumps({"schema": SCHEMA, "build": build.identity(), "features": kept}, indent=1)
        try:
            self._make_folder()
            replace_text(self.path(build), text, mode=0o600)
        except (_Distrusted, OSError) as error:
            self._warn(f"measured verdicts are not cached and will be measured again by the next process: {error}")

    @contextlib.contextmanager
    def lock(self, build: Build, timeout: float) -> Iterator[bool]:
        """Hold the lock of a build's file, waiting at most ``timeout`` seconds.

        Yields:
            True while it is held, or where the file system has no locks and everybody goes on without; False when the
            wait ran out.
        """
        import filelock

        lock = filelock.FileLock(self.path(build) + ".lock", timeout=timeout, mode=0o600)
        held = False
        try:
            self._make_folder()
            lock.acquire()
            held = True
        except filelock.Timeout:
            yield False
            return
        except (_Distrusted, OSError, NotImplementedError) as error:
            self._warn(f"processes that start now may all probe, since they cannot wait for each other: {error}")
        try:
            yield True
        finally:
            if held:
                lock.release()

    def _make_folder(self) -> None:
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self._check_folder()

    def _check_folder(self) -> None:
        info = os.lstat(self.folder)
        if not stat.S_ISDIR(info.st_mode):
            raise _Distrusted(f"{self.folder} is not a directory of its own")
        _check_owner(self.folder, info)

    def _warn(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            warnings.warn(message, CacheWarning, stacklevel=3)


def _check_owner(path: str, info: os.stat_result) -> None:
    if info.st_uid != os.geteuid():
        raise _Distrusted(f"{path} belongs to user {info.st_uid}, not to you ({os.geteuid()})")
    if info.st_mode & 0o022:
        raise _Distrusted(f"others may write to {path} (mode {stat.S_IMODE(info.st_mode):04o})")


def _read_trusted(path: str) -> str:
    # Without O_NONBLOCK a planted FIFO would block for ever; O_NOFOLLOW refuses a planted link.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    # Checked before it is wrapped: os.fdopen refuses a directory and leaves its descriptor open.
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise _Distrusted("it is not a regular file")
        _check_owner(path, info)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            raw = file.read(_LARGEST_FILE + 1)
    finally:
        os.close(descriptor)
    if len(raw) > _LARGEST_FILE:
        raise _Distrusted(f"it is larger than {_LARGEST_FILE} bytes")
    return raw.decode("utf-8")


def _parse(text: str) -> dict[str, Any]:
    data = json.loads(text)
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise ValueError(f"expected schema {SCHEMA}")
    if not isinstance(data.get("build"), dict) or not isinstance(data.get("features"), dict):
        raise ValueError("expected a build and features")
    for name, row in data["features"].items():
        measured_at = Measurement.from_json(row).measured_at
        if measured_at is None or datetime.fromisoformat(measured_at).tzinfo is None:
            raise ValueError(f"{name}: expected the time it was measured, with its zone")
    return data


def _differences(cached: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [
        f"{key} is {value!r} now, but what is cached was measured with {cached.get(key)!r}"
        for key, value in now.items()
        if cached.get(key) != value
    ]


def _expired(measurement: Measurement) -> bool:
    age = datetime.now(timezone.utc) - datetime.fromisoformat(str(measurement.measured_at))
    # A time in the future means that the clock was set back: the age is not known.
    return not 0 <= age.total_seconds() <= _UNKNOWN_EXPIRES
