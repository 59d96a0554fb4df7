from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ms_compat.cli import matrix
from ms_compat.measurement import Answer
from ms_compat.recorded import Recorded
from tests.standin import a_build, measured

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fast.conftest import Command, Stage

NO = measured(Answer.NO, "1.00 stays")
MISSING = measured(Answer.NO, "no old_name", missing_api="mindspore.old_name")


@pytest.fixture(autouse=True)
def _published(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three builds of two releases are recorded, and one that was measured on a card."""
    monkeypatch.setattr(matrix, "features", stage.features())
    for changes, rows in (
        ({"version": "2.9.0"}, {"frees_memory": NO, "keeps_its_names": MISSING}),
        ({"version": "2.10.0"}, {"frees_memory": NO, "keeps_its_names": measured()}),
        ({"version": "2.10.0", "python": "cpython-312"}, {"frees_memory": measured(), "keeps_its_names": measured()}),
        ({"version": "2.10.0", "device_target": "Ascend"}, {"frees_memory": measured()}),
    ):
        stage.build = a_build(**changes)
        stage.record(**rows)
    monkeypatch.setattr(matrix, "Recorded", lambda: Recorded(str(tmp_path / "recorded")))


def row(out: str, name: str) -> list[str]:
    """The cells of a feature's line."""
    (line,) = [line for line in out.splitlines() if line.startswith(f"| `{name}`")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_has_a_column_for_each_release_and_device_oldest_first(command: Command) -> None:
    code, out, _ = command("matrix")
    assert code == 0
    assert "| feature | 2.9.0 CPU | 2.10.0 Ascend | 2.10.0 CPU | where it is no |" in out


def test_says_yes_no_missing_not_measured_and_where_builds_differ(command: Command) -> None:
    _, out, _ = command("matrix")
    assert row(out, "frees_memory") == ["N", "Y", "N/Y", "`ms_compat.mend`"]
    assert row(out, "keeps_its_names") == ["-", "?", "Y", "`ms_compat.old_name`"]
    assert row(out, "numbers_are_right") == ["?", "?", "?", "Check the numbers."]


def test_names_what_was_measured_and_puts_the_worst_first(command: Command) -> None:
    _, out, _ = command("matrix")
    assert "4 features on 4 builds (linux-x86_64; CPython 311, 312)" in out
    headings = [line for line in out.splitlines() if line.startswith("## ")]
    assert headings[:2] == ["## Silently wrong results", "## Memory grows"]


def test_is_there_as_json(command: Command) -> None:
    code, printed = command.json("matrix")
    told: dict[str, Any] = printed["features"]["frees_memory"]
    assert (code, told) == (0, {"2.9.0 CPU": "N", "2.10.0 Ascend": "Y", "2.10.0 CPU": "N/Y"})
