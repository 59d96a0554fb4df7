from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import types
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from ms_compat import registry
from ms_compat.cache import Cache
from ms_compat.errors import (
    CacheWarning,
    DriftWarning,
    FeatureError,
    FeatureWarning,
    SettingError,
    SnapshotError,
    UnknownFeatureError,
    UnknownGroupError,
    UnknownVerdictError,
)
from ms_compat.feature import Path as Way
from ms_compat.measurement import Answer
from ms_compat.probing import runner
from ms_compat.probing.runner import Batch
from ms_compat.registry import Features, requires
from ms_compat.settings import ProbeMode, Settings
from ms_compat.verdict import Source
from tests.house import NAMES
from tests.standin import (
    NO_MINDSPORE,
    Probes,
    a_build,
    eventually,
    has_ended,
    marked,
    measured,
    start_python,
    write_mindspore,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fast.conftest import Stage

NEVER, ALWAYS = Settings(probe=ProbeMode.NEVER), Settings(probe=ProbeMode.ALWAYS)
NO = measured(Answer.NO, "1.00 stays", stays=1)
FAILED = measured(Answer.UNKNOWN, "the power failed")

drift_is_another_matter = pytest.mark.filterwarnings("ignore::ms_compat.errors.DriftWarning")


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A MindSpore that is imported already, and looks as if it did not free memory."""
    module = types.ModuleType("mindspore")
    vars(module)["frees"] = False
    monkeypatch.setitem(sys.modules, "mindspore", module)
    return module


class TestTheOrderOfTheSources:
    """Everything from one source on says no; nothing is asked that ranks below it."""

    ORDER = (
        Source.OVERRIDE,
        Source.RECORDED,
        Source.CACHED,
        Source.PROBED,
        Source.INSPECTED,
        Source.DECLARED,
        Source.NONE,
    )

    @pytest.mark.parametrize("best", ORDER)
    def test_is_the_one_that_is_documented(self, stage: Stage, monkeypatch: pytest.MonkeyPatch, best: Source) -> None:
        def there(source: Source) -> bool:
            return self.ORDER.index(best) <= self.ORDER.index(source)

        stage.build = a_build() if there(Source.DECLARED) else a_build(version="2.92.0")
        stage.probes.answers["frees_memory"] = NO
        if there(Source.INSPECTED):
            module = types.ModuleType("mindspore")
            monkeypatch.setattr(module, "frees", False, raising=False)
            monkeypatch.setitem(sys.modules, "mindspore", module)
        else:
            monkeypatch.delitem(sys.modules, "mindspore", raising=False)
        if there(Source.CACHED):
            stage.remember(frees_memory=NO)
        if there(Source.RECORDED):
            stage.record(frees_memory=NO)
        settings = Settings(
            {"frees_memory": False} if there(Source.OVERRIDE) else {},
            ProbeMode.AUTO if there(Source.PROBED) else ProbeMode.NEVER,
        )
        verdict = stage.features(settings=settings)["frees_memory"]
        assert verdict.source is best
        assert verdict.answer is (Answer.UNKNOWN if best is Source.NONE else Answer.NO)
        assert stage.probes.batches == ([list(NAMES)] if best is Source.PROBED else [])


def test_a_published_build_is_answered_without_importing_or_probing_anything(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("mindspore", "ms_compat.probing.runner", "ms_compat.cache"):
        monkeypatch.setitem(sys.modules, module, None)
    stage.record(frees_memory=NO)
    verdict = stage.features(cache=None)["frees_memory"]
    assert (verdict.answer, verdict.source) == (Answer.NO, Source.RECORDED)


class TestAnUnknownBuild:
    def test_is_probed_once_for_all_features(self, stage: Stage) -> None:
        stage.probes.answers["frees_memory"] = NO
        features = stage.features()
        assert not features.frees_memory
        assert features.calls_return
        assert stage.probes.batches == [list(NAMES)]

    def test_is_not_probed_again_by_the_next_process(self, stage: Stage) -> None:
        assert stage.features().calls_return.source is Source.PROBED
        assert stage.features().calls_return.source is Source.CACHED
        assert len(stage.probes.batches) == 1

    def test_is_probed_only_for_what_is_not_known(self, stage: Stage) -> None:
        stage.record(frees_memory=NO)
        stage.remember(calls_return=measured())
        assert stage.features().keeps_its_names
        assert stage.probes.batches == [["keeps_its_names", "numbers_are_right"]]

    def test_is_probed_again_when_the_build_changes(self, stage: Stage) -> None:
        assert stage.features().calls_return
        stage.build = a_build(extension_mtime=1)
        assert stage.features().calls_return.source is Source.PROBED

    def test_is_not_probed_again_at_once_after_a_failure(self, stage: Stage) -> None:
        stage.probes.answers["calls_return"] = FAILED
        assert stage.features().calls_return.answer is Answer.UNKNOWN
        verdict = stage.features().calls_return
        assert (verdict.answer, verdict.source) == (Answer.UNKNOWN, Source.CACHED)
        assert len(stage.probes.batches) == 1

    def test_is_not_probed_where_that_is_forbidden(self, stage: Stage) -> None:
        verdict = stage.features(settings=NEVER).calls_return
        assert "this build was not recorded, and MS_COMPAT_PROBE=never forbids to measure it" in verdict.why
        assert stage.probes.batches == []

    def test_is_probed_on_the_real_way_through_a_child(self, house: None, mindspore: Path, tmp_path: Path) -> None:
        features = Features(cache=Cache(str(tmp_path / "cache")))
        assert features.build.location == str(mindspore)
        assert not features.frees_memory
        assert features.frees_memory.source is Source.PROBED
        assert features.frees_memory.evidence == {"looked_at": "frees_memory"}

    def test_about_which_the_probes_say_nothing_stays_unknown(self, stage: Stage) -> None:
        verdict = stage.features(run_probes=lambda *_: Batch()).calls_return
        assert verdict.source is Source.NONE
        assert "nothing is known about this build" in verdict.why


class TestAProbeThatFailed:
    def test_leaves_the_answer_to_what_the_author_declared_and_is_mentioned(self, stage: Stage) -> None:
        stage.probes.answers["frees_memory"] = FAILED
        verdict = stage.features().frees_memory
        assert (verdict.answer, verdict.source) == (Answer.NO, Source.DECLARED)
        assert verdict.measurement.summary == (
            "declared for MindSpore >=2.95, not measured on this build; measuring failed: the power failed"
        )

    def test_is_the_cause_where_nothing_was_declared(self, stage: Stage) -> None:
        stage.probes.answers["calls_return"] = FAILED
        verdict = stage.features().calls_return
        assert (verdict.source, verdict.measurement.summary) == (Source.PROBED, "the power failed")

    def test_leaves_the_answer_to_a_look(self, stage: Stage, imported: types.ModuleType) -> None:
        stage.build = a_build(version="2.92.0")
        stage.probes.answers["frees_memory"] = FAILED
        assert stage.features().frees_memory.source is Source.INSPECTED


def test_a_look_that_fails_costs_nothing(stage: Stage, imported: types.ModuleType) -> None:
    del vars(imported)["frees"]
    verdict = stage.features(settings=NEVER).frees_memory
    assert verdict.source is Source.DECLARED
    assert "measuring failed: inspection raised AttributeError" in verdict.measurement.summary


class TestProbingAlways:
    def test_measures_what_is_recorded_and_cached(self, stage: Stage) -> None:
        stage.record(frees_memory=NO)
        stage.remember(calls_return=measured())
        stage.probes.answers["frees_memory"] = NO
        features = stage.features(settings=ALWAYS)
        assert features.frees_memory.source is features.calls_return.source is Source.PROBED
        assert stage.probes.batches == [list(NAMES)]

    def test_leaves_an_override_alone(self, stage: Stage) -> None:
        settings = Settings({"calls_return": True}, ProbeMode.ALWAYS)
        assert stage.features(settings=settings).calls_return.source is Source.OVERRIDE

    def test_falls_back_to_what_is_recorded_where_measuring_fails(self, stage: Stage) -> None:
        stage.record(frees_memory=NO)
        stage.probes.answers["frees_memory"] = FAILED
        verdict = stage.features(settings=ALWAYS).frees_memory
        assert verdict.source is Source.RECORDED
        assert verdict.measurement.summary == "1.00 stays; measuring failed: the power failed"
        assert verdict.evidence == {"stays": 1}


class TestWithoutAMindSpore:
    @pytest.fixture
    def verdict(self, stage: Stage) -> Any:
        stage.build = NO_MINDSPORE
        return stage.features().calls_return

    def test_nothing_is_known_and_nothing_is_started(self, verdict: Any, stage: Stage) -> None:
        assert verdict.source is Source.NONE
        assert "calls_return is unknown on no MindSpore: MindSpore is not installed [none]." in verdict.why
        assert stage.probes.batches == []

    def test_nothing_is_declared_either(self, stage: Stage) -> None:
        stage.build = NO_MINDSPORE
        assert stage.features().frees_memory.source is Source.NONE

    def test_the_reason_is_what_is_wrong_with_it(self, stage: Stage) -> None:
        stage.build = a_build(version=None, problems=("version.py cannot be read", "no extension"))
        assert "version.py cannot be read; no extension" in stage.features().calls_return.why

    def test_one_that_cannot_be_imported_is_not_probed(self, stage: Stage) -> None:
        stage.build = a_build(extension_size=None, problems=("no extension for cpython-311",))
        assert "no extension for cpython-311" in stage.features().calls_return.why
        assert stage.probes.batches == []


class TestACard:
    def test_is_not_opened_unasked(self, stage: Stage) -> None:
        stage.build = a_build(device_target="Ascend")
        verdict = stage.features().calls_return
        assert "is not opened unasked: MS_COMPAT_PROBE_DEVICE=Ascend lets it be measured there" in verdict.why
        assert stage.probes.batches == []

    def test_is_opened_where_it_was_offered(self, stage: Stage) -> None:
        stage.build = a_build(device_target="Ascend")
        assert stage.features(settings=Settings(device="Ascend")).calls_return.source is Source.PROBED

    def test_that_is_offered_is_the_one_identified(self, house: None, mindspore: Path) -> None:
        assert Features(settings=Settings(device="Ascend")).build.device_target == "Ascend"


class TestTheEnvironment:
    def test_is_read_on_first_use(self, stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("MS_COMPAT_OVERRIDE", "frees_memory=yes")
        monkeypatch.setenv("MS_COMPAT_PROBE", "never")
        monkeypatch.setenv("MS_COMPAT_CACHE_DIR", str(tmp_path / "mine"))
        features = stage.features(cache=None)
        with pytest.warns(DriftWarning):
            assert features.frees_memory.why.endswith("set by MS_COMPAT_OVERRIDE [override].")
        assert features.cache.folder == str(tmp_path / "mine")

    def test_with_a_misspelt_name_is_an_error_that_says_where(
        self, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MS_COMPAT_OVERRIDE", "free_memory=yes")
        with pytest.raises(SettingError, match=r"MS_COMPAT_OVERRIDE: .*did you mean frees_memory"):
            _ = stage.features().calls_return


class TestAName:
    def test_that_is_misspelt_is_an_attribute_error_with_the_nearest(self, stage: Stage) -> None:
        with pytest.raises(AttributeError, match="did you mean frees_memory"):
            _ = stage.features().free_memory

    def test_that_is_misspelt_is_a_key_error_with_the_nearest(self, stage: Stage) -> None:
        with pytest.raises(KeyError, match="did you mean frees_memory"):
            stage.features()["free_memory"]

    def test_that_begins_with_an_underscore_is_never_a_feature(self, stage: Stage) -> None:
        with pytest.raises(AttributeError) as caught:
            _ = stage.features()._repr_html_
        assert not isinstance(caught.value, UnknownFeatureError)

    def test_can_be_asked_for_without_an_error(self, stage: Stage) -> None:
        assert not hasattr(stage.features(), "free_memory")
        assert "frees_memory" in stage.features()
        assert "free_memory" not in stage.features()

    def test_is_listed(self, stage: Stage) -> None:
        features = stage.features()
        assert tuple(features) == features.names() == NAMES
        assert len(features) == len(NAMES)
        assert {*NAMES, "snapshot"} <= set(dir(features))
        assert features.feature("frees_memory").question == "Is memory freed?"


def test_a_second_look_up_gives_the_same_object_and_resolves_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    features = stage.features()
    first = features.calls_return
    monkeypatch.delattr(Features, "_resolve")
    assert features.calls_return is features["calls_return"] is first


def test_the_truth_of_an_unknown_verdict_is_refused_with_both_ways_out(stage: Stage) -> None:
    features = stage.features(settings=NEVER)
    with pytest.raises(UnknownVerdictError, match=r"if_unknown=.*plan\(\)"):
        assert features.calls_return


@pytest.mark.parametrize("if_unknown", [True, False])
def test_the_callers_own_choice_decides_what_nobody_knows_and_nothing_else(stage: Stage, if_unknown: bool) -> None:
    stage.probes.answers = {"frees_memory": NO, "calls_return": FAILED}
    features = stage.features()
    assert features.get("calls_return", if_unknown=if_unknown) is if_unknown
    assert features.get("frees_memory", if_unknown=if_unknown) is False
    assert features.get("numbers_are_right", if_unknown=if_unknown) is True


class TestAPlan:
    def test_for_every_path_can_be_followed(self, stage: Stage) -> None:
        missing = measured(Answer.NO, "no old_name", missing_api="mindspore.old_name")
        stage.probes.answers = {"frees_memory": NO, "numbers_are_right": NO, "keeps_its_names": missing}
        features = stage.features()
        plans = {name: features[name].plan() for name in features}
        assert {name: plan.path for name, plan in plans.items()} == {
            "calls_return": Way.NATIVE,
            "frees_memory": Way.WORKAROUND,
            "keeps_its_names": Way.ERROR,
            "numbers_are_right": Way.WARN,
        }
        plans["calls_return"].enforce()
        plans["frees_memory"].enforce()
        with pytest.warns(FeatureWarning, match=r"1\.00 stays.* Check the numbers\."):
            plans["numbers_are_right"].enforce()
        with pytest.raises(FeatureError, match=r"no old_name.* Upgrade MindSpore\."):
            plans["keeps_its_names"].enforce()


class TestARequirement:
    @pytest.fixture(autouse=True)
    def _recorded(self, stage: Stage) -> None:
        stage.record_all(frees_memory=NO, calls_return=NO, numbers_are_right=NO)

    def test_is_met_by_what_is_native_and_by_a_workaround(self, stage: Stage) -> None:
        stage.features().require("keeps_its_names", "frees_memory")

    def test_can_exclude_workarounds(self, stage: Stage) -> None:
        with pytest.raises(FeatureError, match=r"(?s)^a required feature must be native, but on .*Call the mended one"):
            stage.features().require("frees_memory", native=True)

    def test_that_is_not_met_is_one_error_that_lists_all_of_them(self, stage: Stage) -> None:
        with pytest.raises(FeatureError) as caught:
            stage.features().require("keeps_its_names", "calls_return", "frees_memory", "numbers_are_right")
        first, *listed = str(caught.value).splitlines()
        assert first == (
            "2 of 4 required features must be native or worked around, but on MindSpore 2.99.0 (0123abcd) on CPU:"
        )
        assert [line.split()[1] for line in listed] == ["calls_return", "numbers_are_right"]
        assert all("1.00 stays" in line and line.endswith(".") for line in listed)

    def test_that_nobody_knows_is_met_by_a_workaround_only(self, stage: Stage) -> None:
        stage.record(frees_memory=FAILED, numbers_are_right=FAILED)
        features = stage.features(settings=NEVER)
        features.require("frees_memory")
        with pytest.raises(FeatureError, match="numbers_are_right is unknown"):
            features.require("numbers_are_right")

    def test_with_a_misspelt_name_is_refused_first(self, stage: Stage) -> None:
        with pytest.raises(UnknownFeatureError):
            stage.features().require("calls_return", "calls_returns")

    def test_can_be_a_functions(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(registry, "features", stage.features())

        @requires("frees_memory")
        def train(steps: int, *, rate: float) -> str:
            """Train."""
            return f"{steps} steps at {rate}"

        @requires("frees_memory", "calls_return", native=True)
        def train_fast() -> None:
            pytest.fail("it ran")

        assert train(3, rate=0.5) == "3 steps at 0.5"
        assert (train.__name__, train.__doc__) == ("train", "Train.")
        with pytest.raises(FeatureError, match="2 of 2 required features"):
            train_fast()

    def test_of_a_function_is_asked_for_when_it_is_called(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(registry, "features", stage.features())

        @requires("no_such_feature")
        def train() -> None:
            pytest.fail("it ran")

        with pytest.raises(UnknownFeatureError):
            train()


class TestAGroup:
    def test_has_the_verdicts_of_its_features(self, stage: Stage) -> None:
        stage.record_all(calls_return=NO)
        group = stage.features().group("calls")
        assert {name: bool(verdict) for name, verdict in group.items()} == {
            "calls_return": False,
            "keeps_its_names": True,
        }

    def test_that_does_not_exist_is_an_error_that_lists_those_that_do(self, stage: Stage) -> None:
        with pytest.raises(
            UnknownGroupError, match=r"^there is no group 'call'; there are calls, memory, names, numbers"
        ):
            stage.features().group("call")

    def test_is_listed_with_its_features(self, stage: Stage) -> None:
        assert stage.features().groups()["calls"] == ("calls_return", "keeps_its_names")


class TestAnOverride:
    def test_holds_inside_its_block(self, stage: Stage) -> None:
        features = stage.features()
        assert features.calls_return
        with features.override(calls_return=False):
            with pytest.warns(DriftWarning):
                assert not features.calls_return
            assert features.calls_return.why.endswith("set by features.override [override].")
        assert features.calls_return

    def test_ends_with_an_exception_too(self, stage: Stage) -> None:
        features = stage.features()
        with pytest.raises(ZeroDivisionError), features.override(calls_return=False):
            1 / 0  # noqa: B018
        assert features.calls_return

    def test_of_a_misspelt_name_is_an_error(self, stage: Stage) -> None:
        with pytest.raises(UnknownFeatureError, match="call_returns"), stage.features().override(call_returns=True):
            pass


class TestDrift:
    def test_between_a_measurement_and_a_declaration_is_warned_of(self, stage: Stage) -> None:
        with pytest.warns(DriftWarning, match="frees_memory: probed says yes, declared says no"):
            assert stage.features().frees_memory

    def test_between_a_cached_and_a_declared_answer_is_warned_of(self, stage: Stage) -> None:
        stage.remember(frees_memory=measured())
        with pytest.warns(DriftWarning, match="cached says yes, declared says no"):
            assert stage.features().frees_memory

    def test_between_an_override_and_a_record_is_warned_of(self, stage: Stage) -> None:
        stage.record(calls_return=NO)
        features = stage.features(settings=Settings({"calls_return": True}))
        with pytest.warns(DriftWarning, match="override says yes, recorded says no"):
            assert features.calls_return

    def test_between_a_probe_and_a_record_is_warned_of(self, stage: Stage) -> None:
        stage.record(calls_return=NO)
        with pytest.warns(DriftWarning, match="probed says yes, recorded says no"):
            assert stage.features(settings=ALWAYS).calls_return

    def test_of_a_recorded_answer_is_shown_where_it_is_asked_for(self, stage: Stage) -> None:
        stage.record(frees_memory=measured())
        features = stage.features()
        assert features.frees_memory
        (drift,) = features.drift("frees_memory")
        assert str(drift) == "frees_memory: recorded says yes, declared says no"

    def test_is_warned_of_once(self, stage: Stage) -> None:
        features = stage.features()
        with pytest.warns(DriftWarning):
            _ = features.frees_memory
        _ = features.frees_memory

    def test_is_no_matter_where_sources_agree_or_do_not_know(self, stage: Stage) -> None:
        stage.record(frees_memory=NO)
        assert stage.features().drift("frees_memory") == ()
        assert stage.features(settings=NEVER).drift("calls_return") == ()

    def test_of_a_fresh_measurement_is_known_without_asking_again(self, stage: Stage) -> None:
        stage.record(calls_return=NO)
        features = stage.features(settings=ALWAYS)
        with pytest.warns(DriftWarning):
            assert features.calls_return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (drift,) = features.drift("calls_return")
        assert drift.other == (Source.RECORDED, Answer.NO)
        assert len(stage.probes.batches) == 1


class TestMeasuringOnRequest:
    @pytest.fixture(autouse=True)
    def _in_place_of_a_child(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(runner, "run_in_child", lambda jobs, build, **_: stage.probes(jobs, build))

    def test_measures_what_is_named_whatever_is_known(self, stage: Stage) -> None:
        stage.record(calls_return=measured(), frees_memory=NO)
        batch = stage.features().probe(["calls_return"])
        assert list(batch.measurements) == ["calls_return"]
        assert stage.probes.batches == [["calls_return"]]

    def test_measures_everything_where_nothing_is_named(self, stage: Stage) -> None:
        assert set(stage.features().probe().measurements) == set(NAMES)

    def test_is_what_is_known_from_then_on(self, stage: Stage) -> None:
        features = stage.features()
        assert features.calls_return
        stage.probes.answers["calls_return"] = NO
        features.probe(["calls_return"])
        assert not features.calls_return
        assert not stage.features().calls_return

    def test_refuses_a_misspelt_name_before_anything_runs(self, stage: Stage) -> None:
        with pytest.raises(UnknownFeatureError):
            stage.features().probe(["calls_return", "call_returns"])
        assert stage.probes.batches == []

    def test_in_this_process_needs_no_child(self, stage: Stage, mindspore: Path) -> None:
        told: list[str] = []
        batch = stage.features().probe(
            ["calls_return"], in_process=True, progress=lambda name, one: told.append(f"{name} {one is not None}")
        )
        assert batch.measurements["calls_return"].answer is Answer.YES
        assert told == ["calls_return False", "calls_return True"]
        assert stage.probes.batches == []


class TestAChildThatCannotBeStarted:
    @pytest.fixture(autouse=True)
    def _spawn_fails(self, stage: Stage, mindspore: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: Any, **__: Any) -> NoReturn:
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

        monkeypatch.setattr(subprocess, "Popen", fail)

    def test_is_the_cause_of_not_knowing(self, stage: Stage) -> None:
        verdict = stage.features(run_probes=None).calls_return
        assert verdict.answer is Answer.UNKNOWN
        assert "no probing child could be started: [Errno 11] Resource temporarily unavailable" in verdict.why

    def test_does_not_spoil_the_cache(self, stage: Stage) -> None:
        stage.remember(keeps_its_names=measured())
        _ = stage.features(run_probes=None).calls_return
        features = stage.features()
        assert features.calls_return.source is features.keeps_its_names.source is Source.CACHED


@drift_is_another_matter
class TestASnapshot:
    def test_is_taken_over_by_another_process(self, stage: Stage, tmp_path: Path) -> None:
        stage.probes.answers = {"frees_memory": NO, "calls_return": FAILED}
        taken = stage.features().snapshot(tmp_path / "s.json")
        for snapshot in (taken, tmp_path / "s.json"):
            other = Probes()
            features = stage.features(cache=Cache(str(tmp_path / "other")), run_probes=other)
            features.use_snapshot(snapshot)
            assert [features[name].answer.value for name in NAMES] == ["unknown", "no", "yes", "yes"]
            assert other.batches == []

    def test_wins_over_every_other_source(self, stage: Stage) -> None:
        taken = stage.features().snapshot()
        stage.record(calls_return=NO)
        features = stage.features(settings=Settings({"calls_return": False}))
        assert not features.calls_return
        features.use_snapshot(taken)
        assert features.calls_return

    def test_of_another_mindspore_changes_nothing(self, stage: Stage) -> None:
        taken = stage.features().snapshot()
        stage.build = a_build(version="3.0.0")
        stage.probes.answers["calls_return"] = NO
        features = stage.features()
        with pytest.raises(SnapshotError, match=r"taken where version is '2\.99\.0', but here it is '3\.0\.0'"):
            features.use_snapshot(taken)
        assert not features.calls_return


@drift_is_another_matter
def test_reset_forgets_everything_but_the_cache_on_disk(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    features = stage.features(settings=None)
    features.use_snapshot(features.snapshot() | {"features": {}})
    before = features.calls_return
    monkeypatch.setenv("MS_COMPAT_PROBE", "never")
    features.reset()
    assert (before.source, features.calls_return.source) == (Source.PROBED, Source.CACHED)
    assert features.settings.probe is ProbeMode.NEVER
    assert len(stage.probes.batches) == 1


@drift_is_another_matter
class TestManyAtOnce:
    @pytest.mark.filterwarnings("ignore::ms_compat.errors.CacheWarning")
    def test_threads_share_one_batch_and_one_answer(self, stage: Stage) -> None:
        stage.probes.seconds = 0.05
        features = stage.features(cache=Cache("/dev/null/nowhere"))
        barrier = threading.Barrier(8)
        found: list[object] = []

        def ask(name: str) -> None:
            barrier.wait()
            found.append(features[name].answer)

        threads = [threading.Thread(target=ask, args=(NAMES[turn % 4],)) for turn in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [Answer.YES] * 8
        assert stage.probes.batches == [list(NAMES)]

    def test_processes_share_one_child_and_one_answer(self, mindspore: Path, tmp_path: Path) -> None:
        mark = tmp_path / "mark"
        variables = {"STANDIN_MARK": str(mark), "MS_COMPAT_CACHE_DIR": str(tmp_path / "cache")}
        asking = [
            start_python("-m", "tests.house", "ask", NAMES[rank % 4], path=(mindspore.parent,), **variables)
            for rank in range(8)
        ]
        said = [process.communicate(timeout=30) for process in asking]
        answers = {tuple(out.split()[:2]) for out, _ in said}
        assert answers == {
            ("calls_return", "yes"),
            ("frees_memory", "no"),
            ("keeps_its_names", "yes"),
            ("numbers_are_right", "yes"),
        }, said
        assert len(marked(mark)) == 1

    def test_one_that_is_killed_while_it_probes_does_not_stop_the_next(self, site: Path, tmp_path: Path) -> None:
        first_hangs = "import os, time\nif len(open(os.environ['STANDIN_MARK']).readlines()) == 1: time.sleep(60)\n"
        write_mindspore(site, code=write_mindspore(tmp_path / "x").joinpath("__init__.py").read_text() + first_hangs)
        mark = tmp_path / "mark"
        variables = {"STANDIN_MARK": str(mark), "MS_COMPAT_CACHE_DIR": str(tmp_path / "cache")}
        first = start_python("-m", "tests.house", "ask", "calls_return", path=(site,), **variables)
        assert eventually(lambda: len(marked(mark)) == 1)
        second = start_python("-m", "tests.house", "ask", "calls_return", path=(site,), **variables)
        first.kill()
        first.communicate(timeout=10)
        assert second.communicate(timeout=30)[0] == "calls_return yes probed\n"
        assert len(marked(mark)) == 2
        assert eventually(lambda: has_ended(marked(mark)[0]))

    def test_the_wait_for_another_process_is_bounded_and_said(self, stage: Stage) -> None:
        with Cache(stage.cache.folder).lock(stage.build, 1):
            verdict = stage.features(patience=0.1).calls_return
        assert verdict.answer is Answer.UNKNOWN
        assert "another process was still probing after 0.1 s" in verdict.why
        assert stage.probes.batches == []

    def test_a_wait_in_vain_costs_one_feature_and_not_the_others(self, stage: Stage) -> None:
        features = stage.features(patience=0.1)
        with Cache(stage.cache.folder).lock(stage.build, 1):
            assert not features.calls_return.known
        assert features.keeps_its_names
        assert features.frees_memory.known


def test_a_home_that_cannot_be_written_to_costs_warnings_and_no_answer(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    features = stage.features(cache=Cache(str(tmp_path / "file" / "cache")))
    with pytest.warns(CacheWarning) as caught:
        assert features.calls_return
    assert features.keeps_its_names
    assert any("are not cached and will be measured again" in str(one.message) for one in caught)
    assert len(stage.probes.batches) == 1


def test_a_cache_that_cannot_be_trusted_is_measured_anew(stage: Stage) -> None:
    stage.remember(calls_return=NO)
    path = stage.cache.path(stage.build)
    os.truncate(path, 10)
    with pytest.warns(CacheWarning, match="is not used"):
        assert stage.features().calls_return.source is Source.PROBED
    assert stage.features().calls_return.source is Source.CACHED
