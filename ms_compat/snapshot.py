"""All verdicts of a build as one JSON object that another process can take over."""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ms_compat.errors import SnapshotError, UnknownFeatureError
from ms_compat.measurement import Measurement
from ms_compat.verdict import Source, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ms_compat.build import Build
    from ms_compat.collect import Collection

__all__ = ["read", "take"]

SCHEMA = 1
#: What must be the same here and where a snapshot was taken. Python, numpy and places may differ between two hosts.
_SAME = ("version", "commit", "device_target", "extension_size", "sources")
_LARGEST_FILE = 4 * 2**20


def take(build: Build, verdicts: Iterable[Verdict], path: str | os.PathLike[str] | None) -> dict[str, Any]:
    """Put verdicts into a JSON-ready object and, where a path is given, into a file."""
    rows = {verdict.name: {**verdict.measurement.as_json(), "source": verdict.source.value} for verdict in verdicts}
    data = {"schema": SCHEMA, "build": build.as_json(), "features": rows}
    if path is not None:
        from ms_compat.files import replace_text

        replace_text(os.fspath(path), json.dumps(data, indent=1) + "\n", mode=0o644)
    return data


def read(
    snapshot: Mapping[str, Any] | str | os.PathLike[str], build: Build, collection: Collection
) -> dict[str, Verdict]:
    """The verdicts in a snapshot, by name.

    Raises:
        SnapshotError: it cannot be read, has another schema, names an unknown feature or was taken of another build.
    """
    try:
        data = _load(snapshot) if isinstance(snapshot, (str, os.PathLike)) else snapshot
        if data["schema"] != SCHEMA:
            raise ValueError(f"expected schema {SCHEMA}, found {data['schema']!r}")
        here = build.as_json()
        for key in _SAME:
            if data["build"][key] != here[key]:
                raise ValueError(f"it was taken where {key} is {data['build'][key]!r}, but here it is {here[key]!r}")
        return {
            name: Verdict(collection.load(name), Source(row["source"]), build, _measurement(row))
            for name, row in data["features"].items()
        }
    except UnknownFeatureError as error:
        raise SnapshotError(f"the snapshot cannot be used: {error}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SnapshotError(f"the snapshot cannot be used: {type(error).__name__}: {error}") from error


def _measurement(row: object) -> Measurement:
    measurement = Measurement.from_json(row)
    if measurement.measured_at is not None and datetime.fromisoformat(measurement.measured_at).tzinfo is None:
        raise ValueError("measured_at: expected a time with its zone")
    return measurement


def _load(path: str | os.PathLike[str]) -> Any:
    with open(path, encoding="utf-8") as file:
        text = file.read(_LARGEST_FILE + 1)
    if len(text) > _LARGEST_FILE:
        raise ValueError(f"{os.fspath(path)} is larger than {_LARGEST_FILE} bytes")
    return json.loads(text)
