from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ms_compat.measurement import Answer
from ms_compat.settings import ProbeMode, Settings
from tests.standin import NO_MINDSPORE, a_build, measured

if TYPE_CHECKING:
    from tests.fast.conftest import Command, Stage

NO = measured(Answer.NO, "1.00 Tensors per step stay", per_step=1.0)
MISSING = measured(Answer.NO, "this MindSpore has no old_name", missing_api="mindspore.old_name")


def facts_in(out: str) -> dict[str, str]:
    """The texts that a command printed beside their labels."""
    facts: dict[str, str] = {}
    for line in out.splitlines():
        label, text = re.split(r"\s{2,}", line.strip(), maxsplit=1)
        facts[label] = text
    return facts


@pytest.fixture
def recorded(stage: Stage) -> None:
    """A published build on which memory is not freed."""
    stage.record_all(frees_memory=NO)


@pytest.mark.usefixtures("recorded")
class TestTheDoctorOnAPublishedBuild:
    def test_says_in_the_first_lines_what_is_wrong_and_what_to_call_instead(self, command: Command) -> None:
        code, out, err = command("doctor")
        assert (code, err) == (0, "")
        assert [line.rstrip() for line in out.splitlines()[:4]] == [
            "MindSpore 2.99.0 (0123abcd) on CPU, cpython-311, numpy 1.26.4, linux-x86_64 [wheel]",
            "",
            "Call ms_compat.mend",
            "memory grows  frees_memory: 1.00 Tensors per step stay",
        ]

    def test_lists_what_is_fine_and_where_the_answers_come_from(self, command: Command) -> None:
        _, out, _ = command("doctor")
        assert "Fine here (3):\n  calls_return, keeps_its_names, numbers_are_right\n" in out
        assert "Answers: 4 recorded. Measured on CPU; other devices may differ." in out
        assert f"Cache: {command.stage.cache.folder} (0 entries)" in out

    def test_prints_the_same_as_json_for_programs(self, command: Command) -> None:
        code, printed = command.json("doctor")
        assert code == 0
        assert printed["build"]["label"] == "MindSpore 2.99.0 (0123abcd) on CPU"
        assert printed["build"]["version"] == "2.99.0"
        row = printed["features"]["frees_memory"]
        assert (row["verdict"], row["source"], row["evidence"]) == ("no", "recorded", {"per_step": 1.0})
        assert row["plan"]["path"] == "workaround"
        assert row["plan"]["reason"] == row["why"]
        assert (printed["drift"], printed["overrides"], printed["probe"]) == ([], {}, "auto")
        assert printed["cache"] == {"folder": command.stage.cache.folder, "entries": 0, "notes": []}

    def test_starts_nothing(self, command: Command, stage: Stage) -> None:
        command("doctor")
        assert stage.probes.batches == []
        assert not Path(stage.cache.folder).exists()


class TestTheDoctor:
    def test_says_what_to_call_then_what_does_not_work_then_what_to_mind(self, command: Command, stage: Stage) -> None:
        stage.record_all(calls_return=NO, frees_memory=NO, numbers_are_right=NO, keeps_its_names=MISSING)
        code, out, _ = command("doctor")
        parts = [part.splitlines() for part in out.split("\n\n")[1:-1]]
        assert [part[0] for part in parts] == [
            "Call ms_compat.mend",
            "Does not work here",
            "Mind where your program uses it (1; ms-compat show NAME says what to do)",
        ]
        assert [line.split(": ", 1)[1].strip() for line in parts[1][1:]] == ["Do not call.", "Upgrade MindSpore."]
        assert parts[2][1].split() == ["silently", "wrong", "results", "numbers_are_right"]
        assert "Fine here" not in out
        assert code == 0

    def test_finds_nothing_in_what_nobody_asked_for(self, command: Command, stage: Stage) -> None:
        stage.record_all(calls_return=NO, frees_memory=NO)
        assert [command(*asked)[0] for asked in (["doctor"], ["list"], ["doctor", "--strict"])] == [0, 0, 1]
        assert command("show", "calls_return")[0] == 1
        assert command("list", "--group", "calls")[0] == 1

    def test_groups_what_is_not_known_by_its_cause(self, command: Command) -> None:
        command.options["settings"] = Settings(probe=ProbeMode.NEVER)
        code, out, _ = command("doctor")
        assert "Not known: numbers_are_right, calls_return, keeps_its_names\n" in out
        assert "MS_COMPAT_PROBE=never forbids to measure it" in out
        assert code == 0

    def test_says_that_probing_failed(self, command: Command, stage: Stage) -> None:
        stage.probes.answers["calls_return"] = measured(Answer.UNKNOWN, "the power failed")
        stage.probes.answers["frees_memory"] = NO
        assert command("doctor")[0] == 3
        code, printed = command.json("doctor")
        assert code == 3
        assert printed["features"]["calls_return"]["source"] == "cached"

    @pytest.mark.parametrize("strict", [[], ["--strict"]])
    def test_shows_drift_and_finds_something_then(self, command: Command, strict: list[str]) -> None:
        code, out, err = command("doctor", *strict)
        assert "Drift - two sources disagree:\n  frees_memory: probed says yes, declared says no\n" in out
        assert (code, err) == (1, "")

    def test_shows_what_was_set_by_hand(self, command: Command, stage: Stage) -> None:
        stage.record_all(frees_memory=NO)
        command.options["settings"] = Settings({"frees_memory": False, "calls_return": True})
        _, out, _ = command("doctor")
        assert "Set by hand:\n  calls_return=yes (MS_COMPAT_OVERRIDE)\n  frees_memory=no (MS_COMPAT_OVERRIDE)\n" in out
        assert command.json("doctor")[1]["overrides"] == {"frees_memory": "no", "calls_return": "yes"}

    def test_says_why_the_cache_is_less_than_somebody_may_expect(self, command: Command, stage: Stage) -> None:
        stage.remember(calls_return=measured())
        stage.build = a_build(numpy="2.0.0")
        stage.record_all(frees_memory=NO)
        _, out, _ = command("doctor")
        assert "  numpy is '2.0.0' now, but what is cached was measured with '1.26.4'\n" in out

    def test_needs_no_cache_that_can_be_trusted(self, command: Command, stage: Stage) -> None:
        stage.probes.answers["frees_memory"] = NO
        stage.remember(calls_return=measured())
        Path(stage.cache.path(stage.build)).write_text("{")
        code, printed = command.json("doctor")
        assert code == 0
        assert printed["cache"]["entries"] == 4

    def test_names_problems_of_the_build(self, command: Command, stage: Stage) -> None:
        stage.build = a_build(numpy=None, problems=("the metadata says 2.98",))
        stage.record_all(frees_memory=NO)
        _, out, _ = command("doctor")
        assert out.splitlines()[0].count(", no numpy, ") == 1
        assert "  ! the metadata says 2.98\n" in out

    def test_needs_no_mindspore(self, command: Command, stage: Stage) -> None:
        stage.build = NO_MINDSPORE
        code, out, _ = command("doctor")
        assert out.startswith("No MindSpore is installed.\n  Install one into this environment, e.g.: pip install")
        assert "Not known" not in out
        assert code == 1
        code, printed = command.json("doctor")
        assert code == 1
        assert printed["build"]["version"] is None
        assert {row["verdict"] for row in printed["features"].values()} == {"unknown"}

    def test_needs_no_mindspore_that_can_be_read(self, command: Command, stage: Stage) -> None:
        stage.build = a_build(version=None, problems=("version.py cannot be read: it is a folder",))
        code, out, _ = command("doctor")
        assert out.startswith("MindSpore cannot be read here.\n  ! version.py cannot be read: it is a folder\n")
        assert code == 1

    def test_takes_nothing_in_a_text_for_markup(self, command: Command, stage: Stage) -> None:
        odd = measured(Answer.NO, "[red]1[/red] of [2] stays :smile:")
        stage.record_all(frees_memory=odd)
        assert "[red]1[/red] of [2] stays :smile:" in command("doctor")[1]


@pytest.mark.usefixtures("recorded")
class TestTheList:
    def test_has_a_line_for_every_feature(self, command: Command) -> None:
        code, out, _ = command("list")
        lines = [line.split() for line in out.splitlines()]
        assert lines[0] == ["feature", "verdict", "source", "path", "question"]
        assert [line[:4] for line in lines[1:-1]] == [
            ["numbers_are_right", "yes", "recorded", "native"],
            ["frees_memory", "no", "recorded", "workaround"],
            ["calls_return", "yes", "recorded", "native"],
            ["keeps_its_names", "yes", "recorded", "native"],
        ]
        assert lines[-1][:3] == ["4", "features", "of"]
        assert lines[-1][-2:] == ["on", "CPU"]
        assert code == 0

    @pytest.mark.parametrize(
        ("group", "names"), [("memory", {"frees_memory"}), ("calls", {"calls_return", "keeps_its_names"})]
    )
    def test_can_be_that_of_a_group(self, command: Command, group: str, names: set[str]) -> None:
        code, printed = command.json("list", "--group", group)
        assert (code, set(printed["features"])) == (0, names)

    def test_names_the_groups_there_are(self, command: Command) -> None:
        assert command("list", "--group", "mem") == (
            2,
            "",
            "ms-compat: there is no group 'mem'; there are calls, memory, names, numbers\n",
        )


@pytest.mark.usefixtures("recorded")
class TestShowing:
    def test_tells_everything_about_a_feature(self, command: Command, stage: Stage) -> None:
        code, out, _ = command("show", "frees_memory")
        assert code == 0
        facts = facts_in(out)
        assert facts["frees_memory"] == "no"
        assert facts["evidence"] == "per_step=1.0"
        assert facts["do"] == "Call the mended one."
        assert facts["remedy"] == "workaround ms_compat.mend: Call the mended one."
        assert facts["remove when"] == "the oldest supported MindSpore is >=3.0"
        assert facts["declared"] == "<2.90: yes; >=2.95: no"
        assert facts["references"] == "the meter"
        assert "drift" not in facts

    def test_can_be_of_a_group_and_names_together(self, command: Command) -> None:
        code, printed = command.json("show", "--group", "calls", "frees_memory", "calls_return")
        assert code == 0
        assert set(printed["features"]) == {"calls_return", "keeps_its_names", "frees_memory"}
        assert printed["build"]["device_target"] == "CPU"

    @pytest.mark.parametrize("named", [[], ["--group", "mem"]])
    def test_of_nothing_names_the_groups_there_are(self, command: Command, named: list[str]) -> None:
        code, out, err = command("show", *named)
        assert (code, out) == (2, "")
        assert "calls, memory, names, numbers" in err

    def test_tells_what_is_not_there(self, command: Command) -> None:
        _, out, _ = command("show", "numbers_are_right")
        facts = facts_in(out)
        assert facts["evidence"] == "none"
        assert facts["declared"] == "nothing"
        assert facts["remove when"] == "a release repairs it"
        assert facts["remedy"] == "warn: Check the numbers."
        assert "do" not in facts

    def test_shows_drift(self, command: Command, stage: Stage) -> None:
        stage.record(frees_memory=measured())
        code, out, _ = command("show", "frees_memory")
        assert facts_in(out)["drift"] == "frees_memory: recorded says yes, declared says no"
        assert code == 1

    def test_of_several_prints_them_all_as_json(self, command: Command) -> None:
        code, printed = command.json("show", "frees_memory", "calls_return")
        assert code == 0
        assert set(printed["features"]) == {"frees_memory", "calls_return"}
        about: dict[str, Any] = printed["features"]["frees_memory"]["about"]
        assert about["harm"] == "memory grows"
        assert about["remedy"]["shim"] == "ms_compat.mend"
        assert about["declared"] == [{"releases": "<2.90", "holds": True}, {"releases": ">=2.95", "holds": False}]


def test_what_is_printed_as_json_is_json_for_every_reader(command: Command, stage: Stage) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    stage.probes.answers = {"frees_memory": measured(Answer.NO, per_step=float("nan"), most=float("inf"))}
    _, out, _ = command("doctor", "--json")
    json.loads(out, parse_constant=refuse)
