"""Every entry of the real catalog and every recorded row keep to the rules; nothing is measured here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ms_compat
from ms_compat import catalog
from ms_compat.collect import Collection
from ms_compat.measurement import Answer, Measurement
from ms_compat.recorded import Recorded
from ms_compat.registry import Features
from ms_compat.span import SUPPORTED_MINIMUM, lies_in

if TYPE_CHECKING:
    from ms_compat.feature import Feature

NAMES = [file.stem for file in sorted(Path(str(catalog.__file__)).parent.glob("[!_]*.py"))]
ROWS = Recorded().rows
needs_recorded = pytest.mark.skipif(not ROWS, reason="nothing is recorded")


@pytest.fixture
def feature(name: str) -> Feature:
    return Collection().load(name)


def recorded_answers(name: str) -> dict[str, Answer]:
    """What was recorded of a feature, by version."""
    return {
        row["build"]["version"]: Answer(row["features"][name]["verdict"]) for row in ROWS if name in row["features"]
    }


def versions_of_interest(feature: Feature) -> set[str]:
    """Versions at, between and around all bounds of a feature's spans, and those that were recorded."""
    bounds = re.findall(r"\d+(?:\.\d+)*", " ".join(span.releases for span in feature.spans))
    around = {f"{bound}{suffix}" for bound in bounds for suffix in ("", ".1", ".99")}
    return around | {"0.1", SUPPORTED_MINIMUM, "99.0"} | {row["build"]["version"] for row in ROWS}


@pytest.mark.parametrize("name", NAMES)
class TestAFeature:
    def test_is_named_like_its_file(self, name: str, feature: Feature) -> None:
        assert feature.name == name

    def test_is_never_answered_twice_by_what_its_author_declares(self, feature: Feature) -> None:
        for version in versions_of_interest(feature):
            said = [span.releases for span in feature.spans if span.answer(version, "CPU") is not None]
            assert len(said) <= 1, f"{version} lies in {said}"

    def test_is_declared_as_it_was_measured(self, feature: Feature) -> None:
        for version, answer in recorded_answers(feature.name).items():
            declared = {span.answer(version, "CPU") for span in feature.spans} - {None}
            assert declared <= {answer is Answer.YES}, f"{version} was measured {answer.value}"

    def test_names_a_shim_of_this_package_where_it_names_one(self, feature: Feature) -> None:
        assert feature.remedy.shim is None or feature.remedy.shim.removeprefix("ms_compat.") in ms_compat.__all__

    def test_has_a_remedy_that_is_still_needed(self, feature: Feature) -> None:
        if feature.remedy.remove_when is not None:
            assert lies_in(SUPPORTED_MINIMUM, feature.remedy.remove_when) is not True

    def test_has_a_remedy_that_goes_only_where_it_was_measured_to_be_needless(self, feature: Feature) -> None:
        for version, answer in recorded_answers(feature.name).items():
            if feature.remedy.remove_when is not None and lies_in(version, feature.remedy.remove_when):
                assert answer is Answer.YES, version

    def test_tells_the_person_what_to_do_in_sentences(self, feature: Feature) -> None:
        remedy = feature.remedy
        assert all(text.endswith(".") for text in (feature.matters, remedy.action, remedy.missing) if text is not None)

    def test_hides_nothing_that_features_has(self, name: str) -> None:
        assert not hasattr(Features, name)

    @needs_recorded
    def test_is_recorded_for_every_published_build(self, name: str) -> None:
        assert all(name in row["features"] for row in ROWS)

    @needs_recorded
    def test_has_a_probe_that_can_say_both_yes_and_no(self, feature: Feature) -> None:
        answers = set(recorded_answers(feature.name).values())
        assert {Answer.YES, Answer.NO} <= answers or feature.counterproof is not None, answers


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['build']['version']}-{row['build']['python']}")
class TestARecordedRow:
    def test_speaks_of_features_that_exist(self, row: dict[str, Any]) -> None:
        assert set(row["features"]) <= set(NAMES)

    def test_has_answers_that_are_known_and_when_they_were_measured(self, row: dict[str, Any]) -> None:
        for raw in row["features"].values():
            measurement = Measurement.from_json(raw)
            assert measurement.answer is not Answer.UNKNOWN
            assert measurement.measured_at is not None


def test_no_build_is_recorded_twice() -> None:
    keys = [row["build"] for row in ROWS]
    assert all(keys.count(key) == 1 for key in keys)
