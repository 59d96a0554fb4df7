"""Every feature's verdict on the real wheel, and that each probe can say both yes and no."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ms_compat import Answer, Features, Source
from ms_compat.collect import Collection
from ms_compat.probing.runner import Job, run_in_child

if TYPE_CHECKING:
    from ms_compat.probing.runner import Batch

COLLECTION = Collection()
NAMES = COLLECTION.names()
WITH_COUNTERPROOF = [name for name in NAMES if COLLECTION.load(name).counterproof is not None]


@pytest.mark.parametrize("name", NAMES)
def test_the_probe_measures_what_was_recorded_for_this_wheel(name: str, probed: Batch) -> None:
    recorded = Features()[name]
    assert recorded.source is Source.RECORDED, f"{recorded.why} Run 'ms-compat record' on this build."
    assert probed.measurements[name].answer is recorded.answer, probed.measurements[name].summary


def test_one_child_measured_the_whole_catalog(probed: Batch) -> None:
    assert probed.children == 1
    assert set(probed.measurements) == set(NAMES)


@pytest.mark.parametrize("name", WITH_COUNTERPROOF)
def test_the_same_probe_gives_the_other_answer_on_a_changed_mindspore(name: str, probed: Batch) -> None:
    before = probed.measurements[name]
    if "missing_api" in before.evidence:
        pytest.skip(f"{before.summary}: there is nothing to change")
    features = Features()
    changed = run_in_child(
        [Job(COLLECTION.load(name), COLLECTION.location(name))], features.build, counterproof=True
    ).measurements[name]
    assert {before.answer, changed.answer} == {Answer.YES, Answer.NO}, changed.summary


def test_doctor_reports_every_verdict_with_what_was_measured() -> None:
    done = subprocess.run([sys.executable, "-m", "ms_compat", "doctor", "--json"], capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert set(report["features"]) == set(NAMES)
    for feature in report["features"].values():
        assert feature["verdict"] in ("yes", "no")
        assert feature["source"] == "recorded"
        assert feature["evidence"]


def test_a_recorded_answer_imports_no_mindspore_and_starts_no_process() -> None:
    program = (
        "import sys; from ms_compat import features; verdict = features.recompute_releases_tensors;"
        "assert verdict.source.value == 'recorded';"
        "print(sorted({'mindspore', 'numpy', 'subprocess'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"
