"""Verdicts measured on published wheels and shipped inside the package: one file for each build, beside this one.

A look-up reads the one file that speaks of the installed build, so its time does not grow with the number of builds.
"""

from __future__ import annotations

import json
import os
import zlib
from typing import TYPE_CHECKING, Any

from ms_compat.measurement import Measurement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ms_compat.build import Build

__all__ = ["RECORDED_FOLDER", "SCHEMA", "Recorded", "row_key", "row_name", "write_row"]

SCHEMA = 1
RECORDED_FOLDER = os.path.dirname(os.path.abspath(__file__))

#: What must be equal for a recorded row to speak of a build. Times and places differ between two installations of the
#: same wheel; of numpy, what matters is the major version, i.e. its binary interface.
_KEY = ("version", "commit", "python", "numpy", "platform", "device_target", "extension_size", "sources")


def row_key(build: Build) -> dict[str, Any]:
    """What identifies a build in the recorded data."""
    identity = {key: getattr(build, key) for key in _KEY}
    if build.numpy is not None:
        identity["numpy"] = build.numpy.partition(".")[0]
    return identity


def row_name(key: Mapping[str, Any]) -> str:
    """The name of the file of a build; the checksum stands for what the rest of the name leaves out."""
    readable = "-".join(str(key[part]) for part in ("version", "python", "platform", "device_target"))
    return f"{readable}-{zlib.crc32(json.dumps([key[part] for part in _KEY]).encode()):08x}.json".replace(os.sep, "_")


class Recorded:
    """The recorded rows, each read when it is first asked for.

    Raises:
        ValueError: (from any method) a file is not valid; it is part of the package, so the installation is broken.
    """

    def __init__(self, folder: str = RECORDED_FOLDER) -> None:
        self._folder = folder
        self._read: dict[str, dict[str, Any]] = {}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row a build, oldest release first: ``build``, the key, and ``features``, measurements by name."""
        names = os.listdir(self._folder) if os.path.isdir(self._folder) else []
        rows = [self._row(name) for name in names if name.endswith(".json")]
        return sorted(rows, key=lambda row: _sort_key(row["build"]))

    def measurements(self, build: Build) -> Mapping[str, object]:
        """The raw measurements recorded for exactly this build, by feature; empty where there are none."""
        key = row_key(build)
        try:
            row = self._row(row_name(key))
        except FileNotFoundError:
            return {}
        measured: dict[str, object] = row["features"] if row["build"] == key else {}
        return measured

    def find(self, build: Build, name: str) -> Measurement | None:
        """The measurement recorded for exactly this build, or None."""
        raw = self.measurements(build).get(name)
        if raw is None:
            return None
        try:
            return Measurement.from_json(raw)
        except ValueError as error:
            raise ValueError(f"{self._folder}: {name}: {error}; reinstall ms-compat") from error

    def _row(self, name: str) -> dict[str, Any]:
        if name not in self._read:
            self._read[name] = _read_row(os.path.join(self._folder, name))
        return self._read[name]


def _read_row(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            row = json.load(file)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read, reinstall ms-compat: {error}") from error
    schema = row.get("schema") if isinstance(row, dict) else None
    if schema != SCHEMA:
        raise ValueError(f"{path}: expected schema {SCHEMA}, found {schema!r}; reinstall ms-compat")
    build, features = row.get("build"), row.get("features")
    if not (isinstance(build, dict) and set(build) == set(_KEY) and isinstance(features, dict)):
        raise ValueError(f"{path}: expected a build with {', '.join(_KEY)}, and features; reinstall ms-compat")
    return {"build": build, "features": features}


def write_row(path: str, build: Build, measurements: Mapping[str, Measurement]) -> None:
    """Write the row of a build into a file; a former row of the same build is replaced.

    Raises:
        ValueError: the file holds something else, which is left as it is.
    """
    from ms_compat.files import replace_text

    key = row_key(build)
    if os.path.lexists(path) and _read_row(path)["build"] != key:
        raise ValueError("it holds the row of another build; name another file")
    features = {name: measurements[name].as_json() for name in sorted(measurements)}
    row = {"schema": SCHEMA, "build": key, "features": features}
    replace_text(path, json.dumps(row, indent=1, ensure_ascii=False) + "\n", mode=0o644)


def _sort_key(key: Mapping[str, Any]) -> tuple[tuple[int, ...], str]:
    release = tuple(int(part) if part.isdigit() else 0 for part in str(key["version"]).split("."))
    return release, json.dumps(key, sort_keys=True)
