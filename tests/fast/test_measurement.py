from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ms_compat.feature import Finding
from ms_compat.measurement import Answer, Measurement, printable

times = st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat(timespec="seconds"))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
measurements = st.builds(
    Measurement,
    answer=st.sampled_from(Answer),
    summary=st.text(),
    evidence=st.dictionaries(st.text(), scalars, max_size=4),
    measured_at=st.none() | times,
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)
rows = st.fixed_dictionaries(
    {},
    optional={
        "verdict": st.sampled_from(["yes", "no", "unknown"]) | anything,
        "summary": st.text() | anything,
        "evidence": st.dictionaries(st.text(), scalars | anything, max_size=3) | anything,
        "measured_at": times | anything,
        "unheard_of": anything,
    },
)


@given(st.text())
def test_printable_text_holds_nothing_a_terminal_acts_on(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert not any(unicodedata.category(char) in {"Cc", "Cf", "Cs"} for char in shown if char != "\n")


def test_printable_text_keeps_line_ends_and_stays_readable() -> None:
    assert printable("a\nb\x1b[31mc\x07") == "a\nb?[31mc?"


def test_a_flood_of_text_is_cut() -> None:
    assert len(printable("x" * 100_000)) == 4000


@given(measurements)
def test_a_measurement_survives_being_written_and_read(measurement: Measurement) -> None:
    assert Measurement.from_json(json.loads(json.dumps(measurement.as_json()))) == measurement


@given(rows | anything)
def test_no_json_does_more_than_be_refused(row: Any) -> None:
    try:
        measurement = Measurement.from_json(row)
    except ValueError:
        return
    assert measurement.answer.value == row["verdict"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"verdict": "maybe"}, "verdict: expected yes, no or unknown, found 'maybe'"),
        ({"verdict": ["yes"]}, "verdict: expected yes, no or unknown"),
        ({"summary": 3}, "summary: expected text, found 3"),
        ({"evidence": None}, "evidence: expected an object"),
        ({"evidence": {"steps": [1]}}, "evidence: expected an object of numbers and texts"),
        ({"measured_at": 3}, "measured_at: expected a time or null, found 3"),
    ],
)
def test_a_row_that_cannot_be_read_names_the_key(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Measurement.from_json({**Measurement(Answer.YES, "dry").as_json(), **changes})


def test_a_row_that_is_no_object_says_what_it_is() -> None:
    with pytest.raises(ValueError, match="found list"):
        Measurement.from_json([])


def test_keys_of_a_later_version_are_ignored() -> None:
    measurement = Measurement(Answer.NO, "wet", {"steps": 3})
    assert Measurement.from_json({**measurement.as_json(), "weather": "rain"}) == measurement


@pytest.mark.parametrize(("holds", "answer"), [(True, Answer.YES), (False, Answer.NO)])
def test_a_finding_makes_a_measurement(holds: bool, answer: Answer) -> None:
    measurement = Measurement.of(Finding(holds, "3 steps", {"steps": 3}), "2026-01-02T03:04:05+00:00")
    assert measurement == Measurement(answer, "3 steps", {"steps": 3}, "2026-01-02T03:04:05+00:00")


def test_an_unknown_has_its_cause_as_summary() -> None:
    measurement = Measurement.unknown("the power failed", None, tries=2)
    assert (measurement.answer, measurement.summary) == (Answer.UNKNOWN, "the power failed")
    assert dict(measurement.evidence) == {"tries": 2}


def test_terminal_escapes_in_evidence_are_made_harmless() -> None:
    assert dict(Measurement(Answer.NO, "", {"\x1bkey": "\x1b]0;"}).evidence) == {"?key": "?]0;"}
