"""The README says what was recorded, and its test command is the one CI runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ms_compat
from ms_compat.collect import Collection
from ms_compat.recorded import Recorded

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
VERSIONS = ("2.7.2", "2.8.0", "2.9.0", "2.10.0")


def table() -> dict[str, list[str]]:
    rows = re.findall(r"^\| (`.*?) \| (.) \| (.) \| (.) \| (.) \|", README, re.MULTILINE)
    return {name: list(cells) for names, *cells in rows for name in re.findall(r"`(\w+)`", names)}


@pytest.mark.parametrize("name", Collection().names())
def test_the_table_says_what_was_recorded(name: str) -> None:
    recorded = {version: set[str]() for version in VERSIONS}
    for row in Recorded().rows:
        measured = row["features"][name]
        letter = "-" if "missing_api" in measured["evidence"] else measured["verdict"][0].upper()
        recorded[row["build"]["version"]].add(letter)
    assert [{letter} for letter in table()[name]] == list(recorded.values())


def test_ci_runs_the_readmes_test_command() -> None:
    command = next(line for line in README.splitlines() if line.startswith("python3") and line.endswith("tox"))
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()


def test_every_shim_the_readme_names_exists() -> None:
    for name in re.findall(r"ms_compat\.(\w+)[`(]", README):
        assert name in ms_compat.__all__
