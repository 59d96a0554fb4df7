from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ms_compat.measurement import Answer
from ms_compat.recorded import RECORDED_FILE, Recorded, merge_row, row_key
from tests.standin import a_build, measured

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "recorded.json"


def test_what_was_recorded_of_a_build_is_found_again(file: Path) -> None:
    measurement = measured(Answer.NO, "1.00 per step", steps=3)
    merge_row(str(file), a_build(), {"holds_water": measurement})
    recorded = Recorded(str(file))
    assert recorded.find(a_build(), "holds_water") == measurement
    assert recorded.find(a_build(), "floats") is None


@pytest.mark.parametrize(
    "changes",
    [{"extension_mtime": 1}, {"location": "/elsewhere"}, {"installed_as": "editable"}, {"numpy": "1.20.0"}],
)
def test_a_row_speaks_of_every_installation_of_the_same_wheel(file: Path, changes: dict[str, Any]) -> None:
    merge_row(str(file), a_build(), {"holds_water": measured()})
    assert Recorded(str(file)).find(a_build(**changes), "holds_water") is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "2.99.1"},
        {"commit": "fedcba98"},
        {"commit": None},
        {"python": "cpython-312"},
        {"numpy": "2.0.0"},
        {"numpy": None},
        {"platform": "linux-aarch64"},
        {"device_target": "Ascend"},
        {"extension_size": 9},
        {"sources": "00000000"},
    ],
)
def test_a_row_is_silent_about_any_other_build(file: Path, changes: dict[str, Any]) -> None:
    merge_row(str(file), a_build(), {"holds_water": measured()})
    assert Recorded(str(file)).measurements(a_build(**changes)) == {}


def test_without_a_file_nothing_is_recorded(file: Path) -> None:
    assert Recorded(str(file)).rows == []


def test_recording_again_replaces_the_row_and_leaves_the_others(file: Path) -> None:
    for version in ("2.10.0", "2.9.0"):
        merge_row(str(file), a_build(version=version), {"holds_water": measured(Answer.NO)})
    merge_row(str(file), a_build(version="2.10.0"), {"floats": measured()})
    rows = Recorded(str(file)).rows
    assert [(row["build"]["version"], list(row["features"])) for row in rows] == [
        ("2.9.0", ["holds_water"]),
        ("2.10.0", ["floats"]),
    ]


def test_the_same_rows_make_the_same_file_in_whatever_order_they_were_recorded(file: Path, tmp_path: Path) -> None:
    measurement = measured()
    builds = [a_build(version=version) for version in ("2.10.0", "2.9.0", "2.10.0rc1", "2.9.0")]
    for build in builds:
        merge_row(str(file), build, {"b": measurement, "a": measurement})
    for build in reversed(builds):
        merge_row(str(tmp_path / "other"), build, {"a": measurement, "b": measurement})
    assert file.read_text() == (tmp_path / "other").read_text()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "cannot be read, reinstall"),
        ("[" * 100_000, "cannot be read, reinstall"),
        ("[]", "expected schema 1, found None"),
        ('{"schema": 2}', "expected schema 1, found 2"),
        ('{"schema": 1}', "expected a list of rows"),
        ('{"schema": 1, "builds": [1]}', "expected a list of rows"),
        ('{"schema": 1, "builds": [{"build": 1, "features": {}}]}', "expected a list of rows"),
        ('{"schema": 1, "builds": [{"build": {}, "features": []}]}', "expected a list of rows"),
        ('{"schema": 1, "builds": [{"build": {}, "features": {}}]}', "expected a list of rows"),
    ],
)
def test_a_damaged_file_is_an_error_that_names_it_and_the_way_out(file: Path, content: str, complaint: str) -> None:
    file.write_text(content)
    with pytest.raises(ValueError, match=complaint) as caught:
        merge_row(str(file), a_build(), {"holds_water": measured()})
    assert str(file) in str(caught.value)
    assert "reinstall ms-compat" in str(caught.value)
    assert file.read_text() == content


def test_a_file_that_is_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read, reinstall"):
        Recorded(str(tmp_path)).find(a_build(), "holds_water")


@pytest.mark.parametrize("row", [{"verdict": "maybe"}, {"verdict": []}, 7])
def test_a_damaged_measurement_is_an_error_that_names_the_feature(file: Path, row: object) -> None:
    file.write_text(
        json.dumps({"schema": 1, "builds": [{"build": row_key(a_build()), "features": {"holds_water": row}}]})
    )
    with pytest.raises(ValueError, match=r"holds_water: .*reinstall ms-compat"):
        Recorded(str(file)).find(a_build(), "holds_water")


def test_what_ships_with_the_package_is_valid() -> None:
    for row in Recorded(RECORDED_FILE).rows:
        assert set(row["build"]) == set(row_key(a_build()))
