from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest

from ms_compat.cli import measure
from ms_compat.measurement import Answer
from ms_compat.recorded import Recorded, row_key, row_name
from tests.fast.conftest import Terminal
from tests.house import NAMES
from tests.standin import NO_MINDSPORE, a_build, measured

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fast.conftest import Command, Stage

NO = measured(Answer.NO, "1.00 Tensors per step stay")
FAILED = measured(Answer.UNKNOWN, "the power failed")


@pytest.fixture(autouse=True)
def _as_declared(stage: Stage) -> None:
    stage.probes.answers["frees_memory"] = NO


class TestProbe:
    def test_shows_what_was_measured(self, command: Command) -> None:
        code, out, err = command("probe")
        assert (code, err) == (0, "")
        assert re.search(r"frees_memory +no +0.25 +1.00 Tensors per step stay", out)
        assert out.splitlines()[-1] == (
            "4 probed on MindSpore 2.99.0 (0123abcd) on CPU, in 1 child(ren); importing MindSpore took 1.5 s"
        )

    def test_measures_only_what_is_named(self, command: Command, stage: Stage) -> None:
        command("probe", "calls_return")
        assert stage.probes.batches == [["calls_return"]]

    def test_prints_json_for_programs(self, command: Command, stage: Stage) -> None:
        code, printed = command.json("probe", "calls_return")
        assert code == 0
        assert printed["features"]["calls_return"]["verdict"] == "yes"
        assert printed["seconds"] == {"calls_return": 0.25}
        assert (printed["children"], printed["import_seconds"], printed["drift"]) == (1, 1.5, [])
        assert printed["build"]["version"] == "2.99.0"

    def test_in_this_process_starts_no_child(self, command: Command, stage: Stage, mindspore: Path) -> None:
        code, out, _ = command("probe", "--in-process", "calls_return")
        assert (code, stage.probes.batches) == (0, [])
        assert out.splitlines()[-1] == "1 probed on MindSpore 2.99.0 (0123abcd) on CPU, in this process"

    @pytest.mark.parametrize(("strict", "code"), [([], 0), (["--strict"], 1)])
    def test_shows_drift_which_is_a_finding_where_it_is_asked_for(
        self, command: Command, stage: Stage, strict: list[str], code: int
    ) -> None:
        stage.record(calls_return=NO)
        found, out, err = command("probe", "calls_return", *strict)
        assert (found, err) == (code, "")
        assert "drift: calls_return: recorded says no, probed says yes" in out
        assert command.json("probe", "calls_return")[1]["drift"]

    def test_that_fails_says_so(self, command: Command, stage: Stage) -> None:
        stage.probes.answers["calls_return"] = FAILED
        code, out, _ = command("probe", "calls_return")
        assert code == 3
        assert re.search(r"calls_return +unknown +0.25 +the power failed", out)

    def test_without_a_mindspore_is_an_error(self, command: Command, stage: Stage) -> None:
        stage.build = NO_MINDSPORE
        assert command("probe") == (2, "", "ms-compat: there is no MindSpore to measure here: none is installed\n")

    def test_shows_its_progress_on_a_terminal(
        self, command: Command, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        code, out, _ = command("probe", "--json")
        assert (code, set(json.loads(out)["features"])) == (0, set(NAMES))
        assert "4/4" in terminal.getvalue()
        assert "numbers_are_right" in terminal.getvalue()


class TestRecord:
    def test_writes_the_row_of_this_build(self, command: Command, stage: Stage, tmp_path: Path) -> None:
        file = tmp_path / row_name(row_key(stage.build))
        code, out, _ = command("record", "-o", str(file))
        assert (code, out.splitlines()[-1]) == (0, f"written to {file}")
        recorded = Recorded(str(tmp_path))
        assert recorded.find(stage.build, "frees_memory") == NO
        assert set(recorded.measurements(stage.build)) == set(NAMES)

    def test_writes_into_the_package_where_no_file_is_named(
        self, command: Command, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(measure, "RECORDED_FOLDER", str(tmp_path))
        code, printed = command.json("record")
        assert (code, printed["written"]) == (0, str(tmp_path / row_name(printed["build"])))
        assert printed["build"]["numpy"] == "1"
        assert set(printed["features"]) == set(NAMES)
        assert Recorded(str(tmp_path)).find(stage.build, "frees_memory") == NO

    def test_writes_nothing_where_a_probe_failed(self, command: Command, stage: Stage, tmp_path: Path) -> None:
        stage.probes.answers["calls_return"] = FAILED
        code, _, err = command("record", "-o", str(tmp_path / "row.json"))
        assert (code, err) == (3, "ms-compat: nothing was written: a row is complete or not there at all\n")
        code, printed = command.json("record", "-o", str(tmp_path / "row.json"))
        assert (code, printed["written"]) == (3, None)
        assert not (tmp_path / "row.json").exists()

    @pytest.mark.parametrize("damage", ["{", '{"schema": 1, "build": {}, "features": {}}'])
    def test_does_not_touch_a_file_that_is_no_row(self, command: Command, tmp_path: Path, damage: str) -> None:
        file = tmp_path / "row.json"
        file.write_text(damage)
        code, _, err = command("record", "-o", str(file))
        assert code == 2
        assert err.startswith(f"ms-compat: the row cannot be written to {file}: ")
        assert file.read_text() == damage

    def test_does_not_touch_the_row_of_another_build(self, command: Command, stage: Stage, tmp_path: Path) -> None:
        file = tmp_path / "row.json"
        command("record", "-o", str(file))
        before = file.read_text()
        stage.build = a_build(python="cpython-399")
        code, _, err = command("record", "-o", str(file))
        assert (code, file.read_text()) == (2, before)
        assert "it holds the row of another build; name another file" in err

    def test_says_where_it_cannot_write(self, command: Command) -> None:
        code, _, err = command("record", "-o", "/proc/nowhere/row.json")
        assert code == 2
        assert "the row cannot be written to /proc/nowhere/row.json: [Errno 2]" in err


class TestVerify:
    def test_is_content_where_every_answer_is_as_known(self, command: Command, stage: Stage) -> None:
        stage.record_all(frees_memory=NO)
        assert command("verify") == (0, "4 of 4 answers are as known of MindSpore 2.99.0 (0123abcd) on CPU.\n", "")

    def test_fails_where_an_answer_differs(self, command: Command, stage: Stage) -> None:
        stage.record_all()
        code, out, _ = command("verify")
        assert code == 1
        assert out.splitlines() == [
            "frees_memory: recorded says yes, measured now no: 1.00 Tensors per step stay",
            "3 of 4 answers are as known of MindSpore 2.99.0 (0123abcd) on CPU.",
        ]

    def test_prints_what_differs_as_json(self, command: Command, stage: Stage) -> None:
        stage.record_all()
        code, printed = command.json("verify")
        assert (code, printed["compared"], list(printed["differing"])) == (1, 4, ["frees_memory"])
        differing = printed["differing"]["frees_memory"]
        assert (differing["known"]["verdict"], differing["measured"]["verdict"]) == ("yes", "no")

    def test_says_that_probing_failed(self, command: Command, stage: Stage) -> None:
        stage.record_all(frees_memory=NO)
        stage.probes.answers["calls_return"] = FAILED
        assert command("verify")[0] == 3

    def test_has_nothing_to_say_without_a_mindspore(self, command: Command, stage: Stage) -> None:
        stage.build = NO_MINDSPORE
        assert command("verify")[0] == 2
