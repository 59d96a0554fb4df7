"""compare without MindSpore: what is asked of the arms, what is made of their series, and every way it can fail."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ms_compat import UnknownFeatureError, features
from ms_compat.cli import compare as command
from ms_compat.cli import main
from ms_compat.comparison import Arm, CompareError, Comparison, comparable, compare

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "recompute_releases_tensors"


def an_arm(**changes: Any) -> Arm:
    series: dict[str, Any] = {
        "tensors": [10, 20, 30, 40],
        "host_bytes": [0, 100, 200, 300],
        "seconds": [9.0, 1.0, 2.0, 2.0],
        "gradients": ["a", "b", "c", "d"],
        "error": None,
    }
    return Arm(**(series | changes))


class _Usable:
    usable = True
    label = "MindSpore 9.9 on CPU"
    device_target = "CPU"


@pytest.fixture
def arms(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What the two children print, in order; a text is printed as it is, an exception raised."""
    answers: list[Any] = []
    monkeypatch.setattr(features, "build", _Usable())
    real = subprocess.run

    def child(arguments: list[str], **options: Any) -> Any:
        if arguments[0] != sys.executable:
            return real(arguments, **options)  # matplotlib looks for fonts
        answer = answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return subprocess.CompletedProcess(arguments, 1, f"noise\n{answer}\n", "last words")

    monkeypatch.setattr(subprocess, "run", child)
    yield answers
    monkeypatch.undo()


def printed(**changes: Any) -> str:
    arm = an_arm(**changes)
    return json.dumps({"tensors": arm.tensors, **{key: getattr(arm, key) for key in arm.__slots__}})


def test_growth_and_time_are_taken_from_the_second_half() -> None:
    arm = an_arm(tensors=[0, 0, 7, 10], host_bytes=[0, 0, 5, 9])
    assert arm.tensors_per_step == 3
    assert arm.bytes_per_step == 4
    assert arm.median_seconds == 2.0


def test_an_arm_without_steps_has_no_figures() -> None:
    arm = an_arm(tensors=[], host_bytes=[], seconds=[], gradients=[], error="RuntimeError: no")
    assert (arm.tensors_per_step, arm.bytes_per_step, arm.median_seconds) == (0.0, None, None)
    assert Comparison(NAME, "x", arm, an_arm()).gradients_agree is None
    assert Comparison(NAME, "x", arm, an_arm()).time_ratio is None


def test_gradients_agree_only_where_every_common_step_does() -> None:
    assert Comparison(NAME, "x", an_arm(), an_arm()).gradients_agree
    assert not Comparison(NAME, "x", an_arm(), an_arm(gradients=["a", "b", "X", "d"])).gradients_agree


def test_both_arms_run_in_order_and_the_noise_before_the_series_is_ignored(arms: list[Any]) -> None:
    arms += [printed(), printed(tensors=[5, 5, 5, 5])]
    result = compare(NAME, steps=4)
    assert result.native.tensors_per_step == 10
    assert result.workaround.tensors_per_step == 0
    assert result.time_ratio == 1.0
    assert json.loads(json.dumps(result.as_json()))["native"]["tensors_per_step"] == 10


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("no series", "ended with exit code 1: last words"),
        (subprocess.TimeoutExpired("x", 5), "took longer than 600 s"),
    ],
)
def test_an_arm_that_crashes_or_hangs_is_an_error_that_names_it(arms: list[Any], answer: Any, told: str) -> None:
    arms += [printed(), answer]
    with pytest.raises(CompareError, match=f"the workaround arm of {NAME} {told}"):
        compare(NAME)


def test_what_cannot_be_compared_says_what_can() -> None:
    with pytest.raises(UnknownFeatureError, match="did you mean"):
        compare("recompute_releases_tensor")
    with pytest.raises(CompareError, match=NAME):
        compare("numpy2_abi")
    with pytest.raises(CompareError, match="at least 2 steps"):
        compare(NAME, steps=1)
    assert NAME in comparable()


def test_without_mindspore_there_is_nothing_to_compare_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "build", type("None_", (), {"usable": False})())
    with pytest.raises(CompareError, match="no MindSpore to compare on"):
        compare(NAME)


class TestTheCommand:
    def test_lists_what_can_be_compared(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare"]) == 0
        assert NAME in capsys.readouterr().out
        assert main(["compare", "--json"]) == 0
        assert NAME in json.loads(capsys.readouterr().out)["comparable"]

    def test_shows_a_table_and_what_follows(self, arms: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
        arms += [printed(error="RuntimeError: no"), printed(tensors=[5] * 4, host_bytes=[])]
        assert main(["compare", NAME, "--steps", "6"]) == 0
        told = capsys.readouterr().out
        assert "native: stopped after 4 steps with RuntimeError: no" in told
        assert "workaround: +0.00 Tensors per step" in told
        assert "the same to the bit" in told

    def test_tells_where_nothing_ran(self, arms: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
        nothing: dict[str, Any] = {"tensors": [], "host_bytes": [], "seconds": [], "gradients": [], "error": "E: e"}
        arms += [printed(**nothing), printed(**nothing)]
        assert main(["compare", NAME]) == 1
        assert "not to be compared; the workaround's step time is unknown" in capsys.readouterr().out

    def test_is_a_finding_where_the_workaround_grows(self, arms: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
        arms += [printed(), printed()]
        assert main(["compare", NAME, "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["workaround"]["tensors_per_step"] == 10

    def test_draws_both_series(self, arms: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        pytest.importorskip("matplotlib")
        arms += [printed(), printed(tensors=[5] * 4, host_bytes=[], error="E: e")]
        picture = tmp_path / "ab.svg"
        main(["compare", NAME, "--plot", str(picture)])
        assert "live Tensors" in picture.read_text()
        assert f"picture written to {picture}" in " ".join(capsys.readouterr().out.split())

    def test_says_what_a_picture_needs(self, arms: list[Any], tmp_path: Path) -> None:
        result = Comparison(NAME, "x", an_arm(), an_arm())
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(__import__("sys").modules, "matplotlib.figure", None)
            with pytest.raises(CompareError, match=r"ms-compat\[plot\]"):
                command.plot(result, str(tmp_path / "ab.png"))
        pytest.importorskip("matplotlib")
        with pytest.raises(CompareError, match="cannot be written"):
            command.plot(result, str(tmp_path / "no" / "ab.png"))
