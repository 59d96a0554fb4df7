"""The README says what was recorded, and its test command is the one CI runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ms_compat
from ms_compat.cli import main
from ms_compat.collect import Collection
from ms_compat.recorded import Recorded

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
VERSIONS = ("2.7.2", "2.8.0", "2.9.0", "2.10.0")


def table() -> dict[str, list[str]]:
    rows = re.findall(r"^\| (`.*?) \| (.) \| (.) \| (.) \| (.) \|", README, re.MULTILINE)
    return {name: list(cells) for names, *cells in rows for name in re.findall(r"`(\w+)`", names)}


@pytest.mark.parametrize("name", sorted(table()))
def test_the_table_says_what_was_recorded(name: str) -> None:
    recorded = {version: set[str]() for version in VERSIONS}
    for row in Recorded().rows:
        measured = row["features"][name]
        letter = "-" if "missing_api" in measured["evidence"] else measured["verdict"][0].upper()
        recorded[row["build"]["version"]].add(letter)
    assert [{letter} for letter in table()[name]] == list(recorded.values())


def test_the_readme_counts_the_features() -> None:
    assert f"{len(Collection().names())} features" in README


def test_the_page_with_all_features_is_the_one_that_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    main(["matrix"])
    assert (ROOT / "docs" / "matrix.md").read_text() == capsys.readouterr().out


def test_ci_runs_the_readmes_test_command() -> None:
    command = next(line for line in README.splitlines() if line.startswith("python3") and line.endswith("tox"))
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()


def test_every_shim_that_a_page_names_exists() -> None:
    told = (path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
    for name in re.findall(r"ms_compat\.(\w+)[`(]", "".join(told).replace("ms_compat.NAME", "")):
        assert name in ms_compat.__all__
