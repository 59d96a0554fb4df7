"""The command ``matrix``: every feature on every build that was recorded, as a Markdown page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.cli import FINE
from ms_compat.cli.output import print_json
from ms_compat.feature import Harm, Path
from ms_compat.recorded import Recorded
from ms_compat.registry import features

if TYPE_CHECKING:
    import argparse

    from ms_compat.feature import Feature

__all__ = ["matrix"]

_Column = tuple[str, str]


def matrix(options: argparse.Namespace) -> int:
    """Print what was recorded, features by harm against releases."""
    rows = Recorded().rows
    table = {name: _cells(name, rows) for name in features}
    if options.json:
        print_json(
            features={
                name: {f"{version} {device}": letter for (version, device), letter in cells.items()}
                for name, cells in table.items()
            }
        )
    else:
        print("\n".join(_page(rows, table)))
    return FINE


def _columns(rows: list[dict[str, Any]]) -> list[_Column]:
    return list(dict.fromkeys((row["build"]["version"], row["build"]["device_target"]) for row in rows))


def _cells(name: str, rows: list[dict[str, Any]]) -> dict[_Column, str]:
    """For each release and device the answer: Y, N, or - where the API is missing; several where builds differ."""
    cells: dict[_Column, list[str]] = {column: [] for column in _columns(rows)}
    for row in rows:
        measured = row["features"].get(name)
        if measured is not None:
            letter = "-" if "missing_api" in measured["evidence"] else measured["verdict"][0].upper()
            cells[row["build"]["version"], row["build"]["device_target"]].append(letter)
    return {column: "/".join(sorted(set(letters))) or "?" for column, letters in cells.items()}


def _page(rows: list[dict[str, Any]], table: dict[str, dict[_Column, str]]) -> list[str]:
    columns = _columns(rows)
    pythons = sorted({row["build"]["python"].removeprefix("cpython-") for row in rows})
    platforms = sorted({row["build"]["platform"] for row in rows})
    where = f"{', '.join(platforms)}; CPython {', '.join(pythons)}"
    page = [
        "# What was measured",
        "",
        f"{len(table)} features on {len(rows)} builds ({where}), written by `ms-compat matrix`.",
        "`Y` the feature holds, `N` it does not, `-` the API it speaks of does not exist there.",
    ]
    titles = " | ".join(f"{version} {device}" for version, device in columns)
    listed = [features.feature(name) for name in table]
    for harm in sorted({feature.harm for feature in listed}, key=list(Harm).index):
        page += ["", f"## {harm.value.capitalize()}", "", f"| feature | {titles} | where it is no |"]
        page += [f"|---|{'---|' * len(columns)}---|"]
        page += [_line(feature, table[feature.name], columns) for feature in listed if feature.harm is harm]
    return page


def _line(feature: Feature, cells: dict[_Column, str], columns: list[_Column]) -> str:
    remedy = feature.remedy
    told = f"`{remedy.shim}`" if remedy.path is Path.WORKAROUND else remedy.action.replace("|", r"\|")
    question = feature.question.replace("|", r"\|")
    return f"| `{feature.name}`<br>{question} | {' | '.join(cells[column] for column in columns)} | {told} |"
