from __future__ import annotations

from typing import Any

import pytest

from ms_compat.feature import ApiMissing, Finding, Path
from tests.standin import a_feature, a_remedy


def test_a_feature_needs_nothing_but_what_every_feature_has() -> None:
    feature = a_feature()
    assert feature.probe().holds
    assert feature.counterproof is None
    assert feature.inspect is None


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": "Holds"}, "lower-case identifier"),
        ({"name": "_holds"}, "lower-case identifier"),
        ({"name": "holds-water"}, "lower-case identifier"),
        ({"question": "It holds."}, "must end with '\\?'"),
        ({"matters": " "}, "'matters' must not be empty"),
        ({"symptom": ""}, "'symptom' must not be empty"),
        ({"groups": ()}, "'groups' needs at least one"),
        ({"references": ()}, "'references' needs at least one"),
        ({"time_limit": 0}, "positive seconds"),
    ],
)
def test_an_entry_that_is_not_complete_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        a_feature(**changes)


@pytest.mark.parametrize(
    ("path", "shim", "complaint"),
    [
        (Path.NATIVE, None, "a remedy is for a no"),
        (Path.WORKAROUND, None, "names its shim"),
        (Path.WARN, "ms_compat.mend", "nothing else does"),
    ],
)
def test_a_remedy_that_makes_no_sense_is_refused(path: Path, shim: str | None, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        a_remedy(path, shim=shim)


def test_a_finding_keeps_its_evidence_as_it_was_measured() -> None:
    figures: dict[str, Any] = {"steps": 3}
    finding = Finding(True, "dry", figures)
    figures["steps"] = 4
    assert dict(finding.evidence) == {"steps": 3}
    with pytest.raises(TypeError):
        finding.evidence["steps"] = 5  # type: ignore[index]


def test_evidence_that_is_not_flat_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="'per_step' is a list"):
        Finding(True, "dry", {"per_step": [1, 2]})  # type: ignore[dict-item]


def test_a_remedy_that_works_on_some_releases_says_what_to_do_on_the_others() -> None:
    with pytest.raises(ValueError, match="must say in 'missing'"):
        a_remedy(works_on=">=2.8")


def test_a_missing_api_is_named() -> None:
    missing = ApiMissing("mindspore.recompute(early_stop=)")
    assert missing.api in str(missing)


@pytest.mark.parametrize("thing", [a_feature(), a_remedy(), Finding(True, "dry")])
def test_what_the_catalog_says_cannot_be_changed(thing: Any) -> None:
    with pytest.raises(AttributeError):
        setattr(thing, next(iter(type(thing).__annotations__)), None)
