from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from ms_compat.errors import FeatureError, FeatureWarning, UnknownVerdictError
from ms_compat.feature import Path
from ms_compat.measurement import Answer, Measurement
from ms_compat.verdict import Plan, Source, Verdict
from tests.standin import a_build, a_feature, a_remedy, measured

if TYPE_CHECKING:
    from ms_compat.feature import Remedy

YES, NO, UNKNOWN = measured(Answer.YES), measured(Answer.NO), measured(Answer.UNKNOWN, "the power failed")
MISSING = measured(Answer.NO, missing_api="mindspore.mend")
PERHAPS_MISSING = measured(Answer.UNKNOWN, missing_api="mindspore.mend")


def verdict(measurement: Measurement, remedy: Remedy | None = None, **build: Any) -> Verdict:
    feature = a_feature(remedy=remedy or a_remedy(Path.WORKAROUND))
    return Verdict(feature, Source.PROBED, a_build(**build), measurement)


def test_a_known_verdict_is_as_true_as_its_answer() -> None:
    assert verdict(YES)
    assert not verdict(NO)


def test_the_truth_of_an_unknown_verdict_is_refused_and_both_ways_out_are_named() -> None:
    with pytest.raises(UnknownVerdictError) as caught:
        bool(verdict(UNKNOWN))
    for said in ("the power failed", "features.get('holds_water', if_unknown=...)", "features['holds_water'].plan()"):
        assert said in str(caught.value)


def test_why_is_one_sentence_with_the_build_the_numbers_and_where_they_come_from() -> None:
    taken = Measurement(Answer.NO, "1.00 Tensors per step stay", {}, "2026-01-02T03:04:05+00:00")
    assert verdict(taken).why == (
        "holds_water is no on MindSpore 2.99.0 (0123abcd) on CPU: 1.00 Tensors per step stay "
        "[probed, measured 2026-01-02]."
    )


def test_why_names_no_day_for_what_was_not_measured() -> None:
    assert verdict(Measurement(Answer.YES, "stated")).why.endswith("stated [probed].")


def test_age_is_counted_from_the_measurement() -> None:
    an_hour_ago = datetime.now(timezone.utc) - timedelta(hours=1)
    age = verdict(Measurement(Answer.YES, "", {}, an_hour_ago.isoformat())).age_seconds
    assert age == pytest.approx(3600, abs=60)
    assert verdict(Measurement(Answer.YES, "")).age_seconds is None


@pytest.mark.parametrize(
    ("measurement", "remedy", "path"),
    [
        (YES, a_remedy(Path.ERROR), Path.NATIVE),
        (NO, a_remedy(Path.WORKAROUND), Path.WORKAROUND),
        (NO, a_remedy(Path.WARN), Path.WARN),
        (NO, a_remedy(Path.ERROR), Path.ERROR),
        # A workaround is safe either way; an error would stop a run that may be fine.
        (UNKNOWN, a_remedy(Path.WORKAROUND), Path.WORKAROUND),
        (UNKNOWN, a_remedy(Path.WARN), Path.WARN),
        (UNKNOWN, a_remedy(Path.ERROR), Path.WARN),
        (MISSING, a_remedy(Path.WORKAROUND), Path.WORKAROUND),
        (MISSING, a_remedy(Path.WORKAROUND, missing="Upgrade."), Path.ERROR),
        (NO, a_remedy(Path.WORKAROUND, missing="Upgrade."), Path.WORKAROUND),
        (PERHAPS_MISSING, a_remedy(Path.WORKAROUND, missing="Upgrade."), Path.WORKAROUND),
        (NO, a_remedy(Path.WORKAROUND, works_on=">=2", missing="Upgrade."), Path.WORKAROUND),
        (MISSING, a_remedy(Path.WORKAROUND, works_on=">=2", missing="Upgrade."), Path.WORKAROUND),
        (NO, a_remedy(Path.WORKAROUND, works_on=">=99", missing="Upgrade."), Path.ERROR),
        (YES, a_remedy(Path.WORKAROUND, works_on=">=99", missing="Upgrade."), Path.NATIVE),
        (NO, a_remedy(Path.ERROR, harmless_when=lambda _: "no cards"), Path.NATIVE),
        (UNKNOWN, a_remedy(Path.ERROR, harmless_when=lambda _: "no cards"), Path.NATIVE),
        (NO, a_remedy(Path.ERROR, harmless_when=lambda _: None), Path.ERROR),
    ],
)
def test_the_plan_follows_from_the_answer_and_the_remedy(measurement: Measurement, remedy: Remedy, path: Path) -> None:
    assert verdict(measurement, remedy).plan().path is path


def test_a_workaround_says_what_to_call_what_to_do_and_what_it_costs() -> None:
    plan = verdict(NO).plan()
    assert (plan.shim, plan.action, plan.cost) == ("ms_compat.mend", "Mend it.", "nothing")
    assert plan.reason == verdict(NO).why


def test_a_native_path_asks_nothing_of_anybody() -> None:
    plan = verdict(YES).plan()
    assert (plan.shim, plan.action, plan.cost) == (None, None, None)


def test_a_no_that_does_no_harm_here_says_why() -> None:
    remedy = a_remedy(harmless_when=lambda build: f"numpy {build.numpy} is old")
    assert verdict(NO, remedy, numpy="1.20").plan().reason.endswith("No harm here: numpy 1.20 is old.")


def test_a_missing_api_gets_the_instruction_for_that() -> None:
    plan = verdict(MISSING, a_remedy(Path.WORKAROUND, missing="Upgrade.")).plan()
    assert (plan.action, plan.shim) == ("Upgrade.", None)


def test_enforcing_an_error_raises_with_reason_and_instruction() -> None:
    with pytest.raises(FeatureError, match=r"It leaks\. Mend it\."):
        Plan("holds_water", Path.ERROR, "It leaks.", "Mend it.").enforce()


def test_enforcing_a_warning_warns_at_the_callers_line() -> None:
    with pytest.warns(FeatureWarning, match=r"^It leaks\.$") as caught:
        Plan("holds_water", Path.WARN, "It leaks.").enforce()
    assert caught[0].filename == __file__


@pytest.mark.parametrize("path", [Path.NATIVE, Path.WORKAROUND])
def test_enforcing_any_other_path_lets_the_caller_go_on(path: Path) -> None:
    Plan("holds_water", path, "It is fine.").enforce()


@pytest.mark.parametrize("measurement", [YES, NO, UNKNOWN, MISSING])
def test_a_verdict_is_ready_for_json(measurement: Measurement) -> None:
    row = json.loads(json.dumps(verdict(measurement).as_json()))
    assert row["verdict"] == measurement.answer.value
    assert row["source"] == "probed"
    assert row["evidence"] == dict(measurement.evidence)
    assert set(row["plan"]) == {"path", "reason", "action", "shim", "cost"}
