"""Verdicts measured on published wheels and shipped inside the package."""

from __future__ import annotations

import functools
import json
import os
from typing import TYPE_CHECKING, Any

from ms_compat.measurement import Measurement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ms_compat.build import Build

__all__ = ["RECORDED_FILE", "SCHEMA", "Recorded", "merge_row", "row_key"]

SCHEMA = 1
RECORDED_FILE = os.path.join(os.path.dirname(__file__), "recorded.json")

#: What must be equal for a recorded row to speak of a build. Times and places differ between two installations of the
#: same wheel; of numpy, what matters is the major version, i.e. its binary interface.
_KEY = ("version", "commit", "python", "numpy", "platform", "device_target", "extension_size", "sources")


def row_key(build: Build) -> dict[str, Any]:
    """What identifies a build in the recorded data."""
    identity = {key: getattr(build, key) for key in _KEY}
    if build.numpy is not None:
        identity["numpy"] = build.numpy.partition(".")[0]
    return identity


class Recorded:
    """The recorded rows, read on first use.

    Raises:
        ValueError: (from any method) the file is not valid; it is part of the package, so the installation is broken.
    """

    def __init__(self, path: str = RECORDED_FILE) -> None:
        self._path = path

    @functools.cached_property
    def rows(self) -> list[dict[str, Any]]:
        """One row a build: ``build``, the key, and ``features``, measurements by name."""
        try:
            with open(self._path, encoding="utf-8") as file:
                data = json.load(file)
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:
            raise ValueError(f"{self._path} cannot be read, reinstall ms-compat: {error}") from error
        schema = data.get("schema") if isinstance(data, dict) else None
        if schema != SCHEMA:
            raise ValueError(f"{self._path}: expected schema {SCHEMA}, found {schema!r}; reinstall ms-compat")
        rows = data.get("builds")
        if not isinstance(rows, list) or not all(
            isinstance(row, dict)
            and isinstance(row.get("build"), dict)
            and set(row["build"]) == set(_KEY)
            and isinstance(row.get("features"), dict)
            for row in rows
        ):
            raise ValueError(f"{self._path}: expected a list of rows with build and features; reinstall ms-compat")
        return rows

    def measurements(self, build: Build) -> Mapping[str, object]:
        """The raw measurements recorded for exactly this build, by feature; empty where there are none."""
        key = row_key(build)
        return next((row["features"] for row in self.rows if row["build"] == key), {})

    def find(self, build: Build, name: str) -> Measurement | None:
        """The measurement recorded for exactly this build, or None."""
        raw = self.measurements(build).get(name)
        if raw is None:
            return None
        try:
            return Measurement.from_json(raw)
        except ValueError as error:
            raise ValueError(f"{self._path}: {name}: {error}; reinstall ms-compat") from error


def merge_row(path: str, build: Build, measurements: Mapping[str, Measurement]) -> None:
    """Write the row of a build into a recorded file, replacing that build's former row.

    Raises:
        ValueError: the file exists and is not valid.
    """
    key = row_key(build)
    rows = [row for row in Recorded(path).rows if row["build"] != key]
    features = {name: measurements[name].as_json() for name in sorted(measurements)}
    rows.append({"build": key, "features": features})
    rows.sort(key=lambda row: _sort_key(row["build"]))
    from ms_compat.files import replace_text

    replace_text(path, json.dumps({"schema": SCHEMA, "builds": rows}, indent=1, ensure_ascii=False) + "\n", mode=0o644)


def _sort_key(key: Mapping[str, Any]) -> tuple[tuple[int, ...], str]:
    release = tuple(int(part) if part.isdigit() else 0 for part in str(key["version"]).split("."))
    return release, json.dumps(key, sort_keys=True)
