"""The command as a whole: arguments, exit codes, streams, and as a process of its own."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

import pytest

from ms_compat import cli
from ms_compat.cli import report
from ms_compat.measurement import Answer
from ms_compat.settings import read_settings
from tests.house import NAMES
from tests.standin import eventually, has_ended, marked, measured, run_python, start_python, write_mindspore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fast.conftest import Command, Stage

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m")


class TestUsage:
    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["repair"], "ms-compat: argument COMMAND: invalid choice: 'repair'"),
            (["--device", "TPU"], "ms-compat: argument --device: invalid choice: 'TPU'"),
            (["--colour"], "ms-compat: unrecognized arguments: --colour"),
            (["list", "--group"], "ms-compat list: argument --group: expected one argument"),
        ],
    )
    def test_error_is_said_on_standard_error_with_the_way_to_help(
        self, command: Command, arguments: list[str], complaint: str
    ) -> None:
        code, out, err = command(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith(complaint)
        assert "--help'" in err

    @pytest.mark.parametrize("name", ["show", "probe"])
    def test_error_in_a_name_offers_the_nearest(self, command: Command, name: str) -> None:
        code, out, err = command(name, "free_memory")
        assert (code, out) == (2, "")
        assert err == "ms-compat: there is no feature 'free_memory'; did you mean frees_memory?\n"

    def test_help_names_every_command_and_exit_code(self, command: Command) -> None:
        code, out, _ = command("--help")
        assert code == 0
        for said in ("doctor", "list", "show", "probe", "record", "verify", "0 fine, 1 a finding, 2 usage, 3 probing"):
            assert said in out

    def test_error_in_a_setting_is_said_without_a_traceback(
        self, command: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MS_COMPAT_PROBE", "sometimes")
        code, out, err = command("doctor")
        assert (code, out) == (2, "")
        assert err == "ms-compat: MS_COMPAT_PROBE: expected one of auto, never, always, found 'sometimes'\n"


def test_without_a_command_it_is_the_doctor(command: Command, stage: Stage) -> None:
    stage.record_all()
    assert command()[1] == command("doctor")[1]


@pytest.mark.parametrize("arguments", [["--json", "list"], ["list", "--json"]])
def test_an_option_may_stand_before_or_after_the_command(command: Command, arguments: list[str]) -> None:
    assert set(json.loads(command(*arguments)[1])["features"]) == set(NAMES)


@pytest.mark.parametrize("arguments", [["--strict", "doctor"], ["doctor", "--strict"], ["list", "--strict"]])
def test_strict_makes_everything_that_is_not_native_a_finding(
    command: Command, stage: Stage, arguments: list[str]
) -> None:
    stage.record_all(frees_memory=measured(Answer.NO))
    assert command("doctor")[0] == 0
    assert command(*arguments)[0] == 1


def test_warnings_are_a_line_on_standard_error(command: Command, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MS_COMPAT_PROBES", "never")
    _, out, err = command("list", "--json")
    assert json.loads(out)
    assert err.startswith("ms-compat: MsCompatWarning: MS_COMPAT_PROBES is not a variable of ms_compat")
    assert err.count("\n") == 1


def test_ctrl_c_is_no_traceback(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "doctor", interrupted)
    assert command("doctor") == (130, "", "ms-compat: interrupted\n")


@pytest.mark.parametrize("arguments", [["doctor"], ["list", "--json"]])
def test_a_reader_that_has_seen_enough_is_no_error(
    command: Command, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert command(*arguments) == (0, "", "")
        out.write("what is flushed at the end goes nowhere")


def test_the_device_that_is_named_is_the_one_that_is_spoken_of(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MS_COMPAT_PROBE_DEVICE", "CPU")
    command("list", "--device", "Ascend")
    assert read_settings().device == "Ascend"


def test_a_program_may_take_the_output(command: Command) -> None:
    taken = io.StringIO()
    with contextlib.redirect_stdout(taken):
        command("list", "--json")
    assert json.loads(taken.getvalue())


def test_the_module_and_the_script_are_the_same_command() -> None:
    assert vars(importlib.import_module("ms_compat.__main__"))["main"] is cli.main


class TestAsAProcess:
    """``python -m ms_compat`` on the stand-in catalog and a stand-in MindSpore, with a real child."""

    def run(self, *arguments: str, path: tuple[Path, ...] = (), **variables: str) -> tuple[int, str, str]:
        return run_python("-m", "tests.house", "cli", *arguments, path=path, **variables)

    def test_the_report_comes_from_a_real_child(self, mindspore: Path) -> None:
        code, out, err = self.run("--json", path=(mindspore.parent,))
        printed = json.loads(out)
        assert (code, err) == (0, "")
        assert printed["build"]["location"] == str(mindspore)
        assert {name: row["source"] for name, row in printed["features"].items()} == dict.fromkeys(NAMES, "probed")

    def test_a_read_only_home_costs_no_answer(self, mindspore: Path) -> None:
        code, out, err = self.run("doctor", path=(mindspore.parent,), MS_COMPAT_CACHE_DIR="/proc/nowhere")
        assert code == 0
        assert "1.00 Tensors per step stay" in out
        assert "Traceback" not in err

    def test_a_broken_mindspore_is_a_report_too(self, site: Path) -> None:
        write_mindspore(site, code="raise ImportError('libascend.so: no such file')")
        code, out, err = self.run("doctor", "--json", path=(site,))
        printed = json.loads(out)
        assert code == 3
        assert "Traceback" not in err
        row = printed["features"]["calls_return"]
        assert row["verdict"] == "unknown"
        assert "import mindspore: ImportError: libascend.so: no such file" in row["summary"]

    def test_a_probe_that_crashes_is_a_report_too(self, mindspore: Path) -> None:
        code, out, _ = self.run("probe", path=(mindspore.parent,), STANDIN_SAYS="calls_return=crash")
        assert code == 3
        assert re.search(r"calls_return +unknown +- +the child ended itself with exit code 9", out)
        assert re.search(r"numbers_are_right +yes", out)
        assert "4 probed on MindSpore 2.99.0 (0123abcd) on CPU, in 2 child(ren)" in out

    @pytest.mark.parametrize("how", [[], ["--in-process"]])
    def test_a_row_for_a_card_is_measured_on_the_card_that_is_named(
        self, mindspore: Path, tmp_path: Path, how: list[str]
    ) -> None:
        file = tmp_path / "row.json"
        code, out, _ = self.run("--device", "Ascend", "record", *how, "-o", str(file), path=(mindspore.parent,))
        assert code == 0
        assert "4 probed on MindSpore 2.99.0 (0123abcd) on Ascend, in" in out
        assert json.loads(file.read_text())["build"]["device_target"] == "Ascend"

    @pytest.mark.parametrize("how", [[], ["--in-process"]])
    def test_a_card_that_is_not_there_is_no_row(self, mindspore: Path, tmp_path: Path, how: list[str]) -> None:
        code, _, err = self.run(
            "record", "--device", "Ascend", *how, "-o", "row.json", path=(mindspore.parent,), STANDIN_CARDS="0"
        )
        assert code in (2, 3)
        assert "Traceback" not in err
        assert not (tmp_path / "row.json").exists()

    def test_a_change_of_mind_is_drift(self, mindspore: Path) -> None:
        self.run("doctor", path=(mindspore.parent,))
        code, out, _ = self.run("verify", path=(mindspore.parent,), STANDIN_SAYS="calls_return=no")
        assert code == 1
        assert "calls_return: cached says yes, measured now no" in out
        assert "3 of 4 answers are as known of MindSpore 2.99.0 (0123abcd) on CPU." in out

    @pytest.mark.parametrize("arguments", [["doctor"], ["list", "--json"]])
    def test_a_reader_that_has_gone_is_no_error(self, mindspore: Path, arguments: list[str]) -> None:
        process = start_python("-m", "tests.house", "cli", *arguments, path=(mindspore.parent,))
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(timeout=30) == 0
        process.stderr.close()

    def test_ctrl_c_ends_the_child_as_well(self, site: Path, tmp_path: Path) -> None:
        mark = tmp_path / "mark"
        code = write_mindspore(site).joinpath("__init__.py").read_text()
        (site / "mindspore" / "__init__.py").write_text(code + "import time; time.sleep(60)\n")
        process = start_python("-m", "tests.house", "cli", "probe", path=(site,), STANDIN_MARK=str(mark))
        assert eventually(lambda: len(marked(mark)) == 1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        assert (process.returncode, err) == (130, "ms-compat: interrupted\n")
        assert eventually(lambda: has_ended(marked(mark)[0]))

    @pytest.mark.parametrize(("no_colour", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
    def test_no_color_is_honoured(self, mindspore: Path, no_colour: dict[str, str], coloured: bool) -> None:
        _, out, _ = self.run("list", path=(mindspore.parent,), FORCE_COLOR="1", TERM="xterm-256color", **no_colour)
        assert bool(COLOUR.search(out)) is coloured

    @pytest.mark.parametrize("arguments", [["doctor"], ["doctor", "--json"], ["show", "calls_return"]])
    def test_a_terminal_without_unicode_can_show_it(self, site: Path, arguments: list[str]) -> None:
        write_mindspore(site, code="raise ImportError('Zo\xeb')")
        code, out, err = self.run(*arguments, path=(site,), PYTHONIOENCODING="ascii")
        assert (code, err) == (3, "")
        assert "ImportError: Zo\\" in out

    def test_the_real_catalog_needs_no_mindspore(self) -> None:
        hide = "import sys, runpy; sys.modules['mindspore'] = None; sys.argv[0] = 'ms-compat';"
        code, out, err = run_python("-c", f"{hide} runpy.run_module('ms_compat', run_name='__main__')", "doctor")
        assert code == 1
        assert "No MindSpore is installed." in out
        assert "pip install 'ms-compat[" in out
        assert "Traceback" not in err


def test_an_environment_variable_that_is_no_text_is_an_error_of_usage(command: Command, stage: Stage) -> None:
    os.environ["MS_COMPAT_OVERRIDE"] = os.fsdecode(b"\xff=yes")
    try:
        code, _, err = command("doctor")
    finally:
        del os.environ["MS_COMPAT_OVERRIDE"]
    assert code == 2
    assert "there is no feature" in err
