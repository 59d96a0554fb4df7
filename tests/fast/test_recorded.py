from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ms_compat.measurement import Answer
from ms_compat.recorded import Recorded, row_key, row_name, write_row
from tests.standin import a_build, measured

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ms_compat.build import Build
    from ms_compat.measurement import Measurement

    Record = Callable[..., Path]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    def write(build: Build | None = None, **rows: Measurement) -> Path:
        build = build or a_build()
        file = tmp_path / row_name(row_key(build))
        write_row(str(file), build, rows)
        return file

    return write


def test_what_was_recorded_of_a_build_is_found_again(record: Record, tmp_path: Path) -> None:
    measurement = measured(Answer.NO, "1.00 per step", steps=3)
    record(holds_water=measurement)
    recorded = Recorded(str(tmp_path))
    assert recorded.find(a_build(), "holds_water") == measurement
    assert recorded.find(a_build(), "floats") is None


@pytest.mark.parametrize(
    "changes",
    [{"extension_mtime": 1}, {"location": "/elsewhere"}, {"installed_as": "editable"}, {"numpy": "1.20.0"}],
)
def test_a_row_speaks_of_every_installation_of_the_same_wheel(
    record: Record, tmp_path: Path, changes: dict[str, Any]
) -> None:
    record(holds_water=measured())
    assert Recorded(str(tmp_path)).find(a_build(**changes), "holds_water") is not None


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
def test_a_row_is_silent_about_any_other_build(record: Record, tmp_path: Path, changes: dict[str, Any]) -> None:
    record(holds_water=measured())
    assert Recorded(str(tmp_path)).measurements(a_build(**changes)) == {}


def test_a_row_under_the_name_of_another_build_is_not_believed(record: Record, tmp_path: Path) -> None:
    record(holds_water=measured()).rename(tmp_path / row_name(row_key(a_build(version="2.99.1"))))
    assert Recorded(str(tmp_path)).measurements(a_build(version="2.99.1")) == {}


def test_a_look_up_reads_no_row_but_its_own(record: Record, tmp_path: Path) -> None:
    record(holds_water=measured())
    record(a_build(version="2.9.0"), holds_water=measured()).write_text("{")
    assert Recorded(str(tmp_path)).find(a_build(), "holds_water") is not None


def test_without_a_folder_nothing_is_recorded(tmp_path: Path) -> None:
    recorded = Recorded(str(tmp_path / "nowhere"))
    assert recorded.rows == []
    assert recorded.measurements(a_build()) == {}


def test_recording_again_replaces_the_row_and_leaves_the_others(record: Record, tmp_path: Path) -> None:
    for version in ("2.10.0", "2.9.0"):
        record(a_build(version=version), holds_water=measured(Answer.NO))
    record(a_build(version="2.10.0"), floats=measured())
    rows = Recorded(str(tmp_path)).rows
    assert [(row["build"]["version"], list(row["features"])) for row in rows] == [
        ("2.9.0", ["holds_water"]),
        ("2.10.0", ["floats"]),
    ]


def test_the_same_measurements_make_the_same_file(record: Record) -> None:
    one, other = measured(), measured(Answer.NO)
    first = record(a=one, b=other).read_text()
    assert record(b=other, a=one).read_text() == first


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "cannot be read, reinstall"),
        ("[" * 100_000, "cannot be read, reinstall"),
        ("[]", "expected schema 1, found None"),
        ('{"schema": 2}', "expected schema 1, found 2"),
        ('{"schema": 1}', "expected a build with version, "),
        ('{"schema": 1, "build": 1, "features": {}}', "expected a build with version, "),
        ('{"schema": 1, "build": {}, "features": {}}', "expected a build with version, "),
    ],
)
def test_a_damaged_file_is_an_error_that_names_it_and_the_way_out(
    record: Record, tmp_path: Path, content: str, complaint: str
) -> None:
    file = record(holds_water=measured())
    file.write_text(content)
    for touch in (lambda: Recorded(str(tmp_path)).find(a_build(), "holds_water"), lambda: record(floats=measured())):
        with pytest.raises(ValueError, match=complaint) as caught:
            touch()
        assert str(file) in str(caught.value)
        assert "reinstall ms-compat" in str(caught.value)
    assert file.read_text() == content


def test_a_file_that_is_a_folder_is_an_error(record: Record, tmp_path: Path) -> None:
    file = record(holds_water=measured())
    file.unlink()
    file.mkdir()
    with pytest.raises(ValueError, match="cannot be read, reinstall"):
        Recorded(str(tmp_path)).find(a_build(), "holds_water")


@pytest.mark.parametrize("row", [{"verdict": "maybe"}, {"verdict": []}, 7])
def test_a_damaged_measurement_is_an_error_that_names_the_feature(record: Record, tmp_path: Path, row: object) -> None:
    content = {"schema": 1, "build": row_key(a_build()), "features": {"holds_water": row}}
    record().write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"holds_water: .*reinstall ms-compat"):
        Recorded(str(tmp_path)).find(a_build(), "holds_water")


def test_what_ships_with_the_package_is_found_under_its_name() -> None:
    for row in Recorded().rows:
        assert Recorded().measurements(a_build(**row["build"])) == row["features"]
