"""``ms-compat compare`` on the real MindSpore: the A/B of every workaround, as a person runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ms_compat import Features
from ms_compat.comparison import comparable

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ms_compat", "compare", *arguments], capture_output=True, text=True, timeout=300
    )


def compared(name: str, *arguments: str) -> dict[str, Any]:
    done = run(name, "--json", *arguments)
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize("name", comparable())
def test_the_workaround_runs_to_its_end_and_no_tensor_piles_up(name: str) -> None:
    plan = Features()[name].plan()
    answer = compared(name, "--steps", "12", "--layers", "2", "--size", "16")
    if answer["workaround"]["error"] is not None:
        # Where there is nothing to work with, the shim says so instead.
        assert "FeatureError" in answer["workaround"]["error"], plan
        assert not Features().recompute_non_reentrant
        return
    assert answer["workaround"]["tensors_per_step"] == 0
    assert len(answer["workaround"]["tensors"]) == 12
    if answer["native"]["error"] is None and name != "recompute_repeats_dropout":
        assert answer["gradients_agree"]


def test_the_native_arm_shows_one_tensor_a_layer_and_step_where_the_verdict_is_no(version: str) -> None:
    if version.startswith("2.7."):
        pytest.skip("this MindSpore has no non-reentrant recompute")
    answer = compared("recompute_releases_tensors", "--steps", "12", "--layers", "3", "--size", "16")
    assert answer["native"]["tensors_per_step"] == (0 if Features().recompute_releases_tensors else 3)


def test_a_person_gets_a_table_and_a_sentence(tmp_path: Path) -> None:
    done = run("hook_handle_drop_releases", "--steps", "4", "--layers", "1", "--size", "4")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "each arm in a process of its own" in told
    assert "Gradients are the same to the bit" in told


def test_a_feature_without_an_ab_names_those_with_one() -> None:
    done = run("executor_in_graph_api")
    assert done.returncode == 2
    assert "recompute_releases_tensors" in done.stderr
