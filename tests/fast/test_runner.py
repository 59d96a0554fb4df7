from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ms_compat.build import find_build
from ms_compat.errors import MsCompatError
from ms_compat.feature import Finding
from ms_compat.measurement import Answer
from ms_compat.probing import runner
from ms_compat.probing.runner import (
    Batch,
    Job,
    child_environment,
    child_path,
    run_in_child,
    run_in_process,
    run_probe,
)
from tests import faults
from tests.faults import job
from tests.standin import MINDSPORE, ROOT, a_feature, eventually, has_ended, marked, start_python, write_mindspore

if TYPE_CHECKING:
    from pathlib import Path


def run(*names: str, **options: Any) -> Batch:
    return run_in_child([job(name) for name in names], find_build("CPU"), **options)


@pytest.mark.usefixtures("mindspore")
class TestABatch:
    def test_runs_every_probe_in_one_child(self) -> None:
        batch = run("healthy", "says_no", "misses_an_api", "still_healthy")
        answers = {name: one.answer.value for name, one in batch.measurements.items()}
        assert answers == {"healthy": "yes", "says_no": "no", "misses_an_api": "no", "still_healthy": "yes"}
        assert batch.measurements["healthy"].evidence == batch.measurements["still_healthy"].evidence
        assert batch.measurements["healthy"].evidence["pid"] != os.getpid()
        assert dict(batch.measurements["misses_an_api"].evidence) == {"missing_api": "mindspore.mend"}
        assert batch.children == 1
        assert set(batch.seconds) == set(batch.measurements)
        assert batch.import_seconds is not None

    def test_of_nothing_starts_no_child(self) -> None:
        assert run() == Batch()

    def test_tells_its_progress(self) -> None:
        told: list[tuple[str, str | None]] = []
        run(
            "says_no", "exits_at_once", "healthy",
            progress=lambda name, one: told.append((name, one and one.answer.value)),
        )  # fmt: skip
        assert told == [
            ("says_no", None),
            ("says_no", "no"),
            ("exits_at_once", None),
            ("exits_at_once", "unknown"),
            ("healthy", None),
            ("healthy", "yes"),
        ]

    def test_leaves_neither_a_descriptor_nor_a_folder_behind(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "scratch").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
        before = len(os.listdir("/proc/self/fd"))
        batch = run("looks_at_the_environment", "exits_at_once")
        assert str(batch.measurements["looks_at_the_environment"].evidence["cwd"]).startswith(str(tmp_path / "scratch"))
        assert len(os.listdir("/proc/self/fd")) == before
        assert list((tmp_path / "scratch").iterdir()) == []

    def test_gives_the_other_answer_after_the_counterproof(self) -> None:
        (as_it_is,) = run("shows_both_answers").measurements.values()
        (changed,) = run("shows_both_answers", counterproof=True).measurements.values()
        assert (as_it_is.answer, changed.answer) == (Answer.YES, Answer.NO)


FAULTS = [
    ("hangs_in_python", r"no answer within 0.3 s; its last lines:(.|\n)*in hangs_in_python"),
    ("hangs_holding_the_interpreter", r"no answer within 0.3 s; its last lines:(.|\n)*in hangs_holding"),
    ("hangs_deep_down", r"no answer within 0.3 s; its last lines:\n"),
    ("hangs_in_a_lock", r"no answer within 0.3 s"),
    ("waits_for_input", r"no answer within 0.3 s"),
    ("stops_itself", r"no answer within 0.3 s"),
    ("segfaults", r"the child was ended by SIGSEGV; its last lines:(.|\n)*string_at"),
    ("aborts", r"the child was ended by SIGABRT"),
    ("dies_by_a_signal_without_a_name", r"the child was ended by signal 40"),
    ("exits_at_once", r"the child ended itself with exit code 7; its last lines:\nfirst words\nlast words$"),
    ("exits_at_once_with_success", r"the child ended itself with exit code 0$"),
    ("exits", r"the probe raised SystemExit in faults\.py:\d+: 3"),
    ("interrupts_itself", r"the child was ended by SIGINT; its last lines:(.|\n)*KeyboardInterrupt"),
    ("raises_terminal_escapes", r"the probe raised RuntimeError in faults\.py:\d+: \?\[31mred\?\]0;title\?$"),
    ("runs_out_of_memory", r"the probe raised MemoryError"),
    ("recurses_for_ever", r"the probe raised RecursionError"),
    ("returns_nothing", r"the probe raised AttributeError"),
    ("floods_and_dies", r"the child ended itself with exit code 7; its last lines:\ny+\nlast words$"),
    ("leaves_a_grandchild_and_dies", r"the child ended itself with exit code 5"),
    ("closes_every_descriptor", r"the child ended itself"),
    ("sends_half_a_line", r"the probe's answer was lost: something else was written into the result channel"),
    ("sends_garbage_without_end", r"the probe wrote into the result channel"),
]


@pytest.mark.parametrize(("fault", "cause"), FAULTS, ids=[fault for fault, _ in FAULTS])
def test_a_fault_costs_its_own_verdict_and_says_why(
    mindspore: Path, monkeypatch: pytest.MonkeyPatch, fault: str, cause: str
) -> None:
    monkeypatch.setattr(runner, "_GRACE", 0.3)
    found = run("healthy", fault, "still_healthy").measurements
    assert found["healthy"].answer is found["still_healthy"].answer is Answer.YES
    assert found[fault].answer is Answer.UNKNOWN
    assert re.match(cause, found[fault].summary), found[fault].summary
    assert found[fault].measured_at is not None


@pytest.mark.parametrize(
    "harmless",
    [
        "floods_both_streams",
        "leaves_a_grandchild",
        "forks_and_both_go_on",
        "closes_the_standard_streams",
        "closes_standard_error_for_python",
        "replaces_standard_error",
        "sends_garbage",
        "finds_half_a_character",
        "dies_before_the_next_one",
        "dies_at_the_end",
    ],
)
def test_what_a_probe_does_on_the_side_costs_nothing(mindspore: Path, harmless: str) -> None:
    found = run("healthy", harmless, "still_healthy").measurements
    assert [one.answer for one in found.values()] == [Answer.YES] * 3


def test_a_child_that_dies_after_its_last_answer_has_answered(mindspore: Path) -> None:
    batch = run("healthy", "dies_at_the_end")
    assert [one.answer for one in batch.measurements.values()] == [Answer.YES] * 2
    assert batch.children == 1


@pytest.mark.parametrize(
    "forgery",
    [
        "starts_what_there_is_not",
        "starts_nothing",
        "ends_what_there_is_not",
        "ends_in_no_measurement",
        "ends_in_no_time",
        "is_ready_in_no_time",
        "breaks_without_a_cause",
        "says_all_is_done",
    ],
)
def test_a_forged_message_never_reaches_the_caller_as_an_error(mindspore: Path, forgery: str) -> None:
    found = run("healthy", forgery, "still_healthy").measurements
    assert set(found) == {"healthy", "forges_a_message", "still_healthy"}
    assert found["healthy"].answer is Answer.YES


def test_a_probe_that_cannot_be_loaded_in_the_child_costs_its_own_verdict(mindspore: Path) -> None:
    lost = Job(a_feature("lost"), "tests.faults:no_such_probe")
    found = run_in_child([lost, job("healthy")], find_build("CPU")).measurements
    assert "no attribute 'no_such_probe'" in found["lost"].summary
    assert found["healthy"].answer is Answer.YES


def test_what_a_probe_started_does_not_outlive_the_batch(mindspore: Path) -> None:
    pid = run("leaves_a_grandchild").measurements["leaves_a_grandchild"].evidence["pid"]
    assert isinstance(pid, int)
    assert eventually(lambda: has_ended(pid))


def test_an_error_in_the_callers_progress_ends_the_child(
    mindspore: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> NoReturn:
        raise ZeroDivisionError

    monkeypatch.setenv("STANDIN_MARK", str(tmp_path / "mark"))
    with pytest.raises(ZeroDivisionError):
        run("hangs_in_python", progress=fail)
    (child,) = marked(tmp_path / "mark")
    assert eventually(lambda: has_ended(child))


class TestAMindSporeThatDoesNotStart:
    """Costs every verdict of the batch, in one child."""

    @pytest.mark.parametrize(
        ("code", "cause"),
        [
            ("1 / 0", "import mindspore: ZeroDivisionError: division by zero"),
            ("import no_such_library", "import mindspore: ModuleNotFoundError: No module named 'no_such_library'"),
            ("raise SystemExit(4)", "import mindspore: SystemExit: 4"),
            ("import os; os.write(2, b'no card'); os._exit(3)", "exit code 3; its last lines:\nno card"),
            ("import os; os.kill(os.getpid(), 11)", "was ended by SIGSEGV"),
            ("import time; time.sleep(60)", "no answer within 0.3 s; its last lines:"),
            ("PYNATIVE_MODE = 1", "import mindspore: AttributeError: module 'mindspore' has no attribute 'set_"),
            (MINDSPORE.replace("set_device", "device"), "has no attribute 'set_device'"),
            (MINDSPORE + "    raise OSError('no such card')\n", "import mindspore: OSError: no such card"),
        ],
    )
    def test_says_why(self, site: Path, monkeypatch: pytest.MonkeyPatch, code: str, cause: str) -> None:
        write_mindspore(site, code=code)
        if "sleep" in code:
            monkeypatch.setattr(runner, "IMPORT_LIMIT", 0.3)
        batch = run("healthy", "still_healthy")
        assert [one.answer for one in batch.measurements.values()] == [Answer.UNKNOWN] * 2
        assert all(cause in one.summary for one in batch.measurements.values())
        assert batch.children == 1
        assert batch.import_seconds is None

    def test_may_die_a_moment_later_and_then_costs_a_child_for_every_probe(self, site: Path) -> None:
        write_mindspore(site, code=f"{MINDSPORE}\nfrom tests.faults import die_at\ndie_at('start')\n")
        batch = run("healthy", "still_healthy")
        assert [one.summary for one in batch.measurements.values()] == ["the child ended itself with exit code 9"] * 2
        assert batch.children == 2

    def test_is_not_replaced_by_another_one(self, mindspore: Path, tmp_path: Path) -> None:
        build = find_build()
        other = write_mindspore(tmp_path / "other")
        sys.path.insert(0, str(other.parent))
        (found,) = run_in_child([job("healthy")], build).measurements.values()
        assert f"imported the MindSpore in {other}, not the one in {mindspore}" in found.summary

    def test_is_not_waited_for_after_it_has_gone(
        self, mindspore: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        # A child that ends before it reads its request: the request is larger than a pipe holds.
        (tmp_path / "python").write_text("#!/bin/sh\nexec 0<&-\necho no interpreter >&2\nexit 6\n")
        (tmp_path / "python").chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
        monkeypatch.setattr(sys, "path", [*sys.path, "/" + "x" * 2**20])
        (found,) = run("healthy").measurements.values()
        assert "ended itself with exit code 6; its last lines:\nno interpreter" in found.summary


class TestAChildThatCannotBeStarted:
    @pytest.fixture
    def spawn_fails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: Any, **__: Any) -> NoReturn:
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

        monkeypatch.setattr(subprocess, "Popen", fail)

    @pytest.mark.usefixtures("mindspore", "spawn_fails")
    def test_is_the_cause_and_leaves_nothing_behind(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "scratch").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
        before = len(os.listdir("/proc/self/fd"))
        (found,) = run("healthy").measurements.values()
        assert "no probing child could be started: [Errno 11] Resource temporarily unavailable" in found.summary
        assert found.measured_at is not None
        assert len(os.listdir("/proc/self/fd")) == before
        assert list((tmp_path / "scratch").iterdir()) == []

    def test_costs_nothing_that_was_measured_before(self, mindspore: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        spawn, left = runner._spawn, [1]

        def spawn_once(*arguments: Any) -> Any:
            if not left:
                raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
            left.pop()
            return spawn(*arguments)

        monkeypatch.setattr(runner, "_spawn", spawn_once)
        found = run("healthy", "exits_at_once", "still_healthy").measurements
        assert found["healthy"].answer is Answer.YES
        assert "exit code 7" in found["exits_at_once"].summary
        assert "temporarily unavailable" in found["still_healthy"].summary


PARENT = """
import sys
from ms_compat.build import find_build
from ms_compat.probing.runner import run_in_child
from tests.faults import job
run_in_child([job(sys.argv[1])], find_build("CPU"))
"""


@pytest.mark.parametrize("hang", ["waits_a_minute", "leaves_a_grandchild_and_waits"])
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_child_ends_with_its_parent_however_that_ends(
    mindspore: Path, tmp_path: Path, sent: signal.Signals, hang: str
) -> None:
    mark = tmp_path / "mark"
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)" + PARENT
    parent = start_python("-c", code, hang, path=(mindspore.parent,), STANDIN_MARK=str(mark))
    expected = 2 if hang.startswith("leaves") else 1
    assert eventually(lambda: len(marked(mark)) == expected)
    parent.send_signal(sent)
    parent.communicate(timeout=10)
    assert eventually(lambda: all(map(has_ended, marked(mark))))


class TestTheChild:
    def evidence(self, device: str = "CPU") -> dict[str, Any]:
        (found,) = run_in_child([job("looks_at_the_environment")], find_build(device)).measurements.values()
        return dict(found.evidence)

    @pytest.fixture(autouse=True)
    def _in_a_job(self, mindspore: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("STANDIN_KEPT", "kept")
        for name in ("RANK_ID", "MS_ROLE", "LOCAL_RANK", "ASCEND_RT_VISIBLE_DEVICES"):
            monkeypatch.setenv(name, "3")

    def test_does_not_see_that_it_is_part_of_a_job(self) -> None:
        seen = self.evidence()
        assert seen["RANK_ID"] is seen["MS_ROLE"] is seen["LOCAL_RANK"] is seen["ASCEND_RT_VISIBLE_DEVICES"] is None
        assert seen["STANDIN_KEPT"] == "kept"

    def test_sees_which_cards_are_its_own_where_it_opens_one(self) -> None:
        seen = self.evidence("Ascend")
        assert seen["ASCEND_RT_VISIBLE_DEVICES"] == "3"
        assert seen["RANK_ID"] is None

    def test_does_not_run_what_lies_in_the_current_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        build = find_build("CPU")
        write_mindspore(tmp_path / "here", code=f"open({str(tmp_path / 'ran')!r}, 'w')")
        monkeypatch.chdir(tmp_path / "here")
        monkeypatch.setattr(sys, "path", ["", str(tmp_path / "here"), *sys.path])
        (found,) = run_in_child([job("healthy")], build).measurements.values()
        assert found.answer is Answer.YES
        assert not (tmp_path / "ran").exists()

    def test_does_not_take_the_mindspore_in_the_current_folder_for_the_installed_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here = write_mindspore(tmp_path / "here", code=f"open({str(tmp_path / 'ran')!r}, 'w')")
        monkeypatch.chdir(tmp_path / "here")
        monkeypatch.setattr(sys, "path", ["", *sys.path])
        build = find_build("CPU")
        assert build.location == str(here)
        (found,) = run_in_child([job("healthy")], build).measurements.values()
        assert "import mindspore: RuntimeError: the child imported the MindSpore in" in found.summary
        assert not (tmp_path / "ran").exists()

    def test_is_not_led_astray_by_variables_of_the_interpreter(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        trap = tmp_path / "trap"
        trap.mkdir()
        for name in ("sitecustomize", "usercustomize", "json", "startup"):
            (trap / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
        monkeypatch.setenv("PYTHONPATH", str(trap))
        monkeypatch.setenv("PYTHONSTARTUP", str(trap / "startup.py"))
        monkeypatch.setenv("PYTHONHOME", str(trap))
        monkeypatch.setenv("PYTHONWARNINGS", "error")
        monkeypatch.setenv("PYTHONINSPECT", "1")
        assert self.evidence()["STANDIN_KEPT"] == "kept"
        assert not (tmp_path / "ran").exists()

    @pytest.mark.parametrize(("quiet", "written"), [(True, False), (False, True)])
    def test_writes_bytecode_only_where_its_parent_does(
        self, mindspore: Path, monkeypatch: pytest.MonkeyPatch, quiet: bool, written: bool
    ) -> None:
        monkeypatch.setattr(sys, "dont_write_bytecode", quiet)
        self.evidence()
        assert (mindspore / "__pycache__").exists() is written


@pytest.mark.parametrize("device", ["CPU", "GPU", "Ascend"])
@given(others=st.dictionaries(st.from_regex(r"[A-Z]{2,6}(_[A-Z]{2,6})?", fullmatch=True), st.text()))
def test_no_launcher_variable_reaches_a_child(device: str, others: dict[str, str]) -> None:
    launcher = (
        "RANK_ID", "RANK_SIZE", "RANK_TABLE_FILE", "MS_WORKER_NUM", "LOCAL_RANK", "WORLD_SIZE", "DEVICE_ID",
        "MASTER_ADDR", "HCCL_IF_BASE_PORT", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "GLOG_v",
    )  # fmt: skip
    kept = child_environment({**others, **dict.fromkeys(launcher, "1"), "PATH": "/bin"}, device)
    assert kept["PATH"] == "/bin"
    assert not set(launcher) & set(kept)
    assert set(kept) <= {*others, "PATH"}


class TestThePathOfTheChild:
    @pytest.fixture(autouse=True)
    def _here(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("PYTHONPATH", raising=False)
        monkeypatch.setattr(sys, "path", ["", "relative", "/elsewhere", str(tmp_path)])

    def test_has_no_current_folder_and_nothing_relative_to_it(self) -> None:
        assert child_path() == ["/elsewhere"]

    def test_has_a_current_folder_that_was_asked_for_by_name(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("PYTHONPATH", f":relative:{tmp_path}")
        assert child_path() == ["/elsewhere", str(tmp_path)]

    def test_has_no_link_to_the_current_folder(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(tmp_path)
        sys.path.append(str(tmp_path / "link"))
        assert child_path() == ["/elsewhere"]

    def test_leaves_out_what_python_itself_does_not_search(self) -> None:
        sys.path.append(ROOT)  # type: ignore[arg-type]
        assert child_path() == ["/elsewhere"]

    def test_is_there_where_the_current_folder_is_gone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "gone").mkdir()
        monkeypatch.chdir(tmp_path / "gone")
        (tmp_path / "gone").rmdir()
        assert "/elsewhere" in child_path()


class TestInThisProcess:
    @pytest.fixture(autouse=True)
    def _mindspore(self, mindspore: Path) -> None:
        """There is one to import."""

    def test_probes_run_on_the_device_the_answers_are_kept_for(self) -> None:
        import mindspore  # type: ignore[import-not-found, unused-ignore]

        run_in_process([job("healthy")], "Ascend")
        assert mindspore.get_context("device_target") == "Ascend"

    def test_probes_run_in_pynative_mode_and_leave_the_mode_as_it_was(self) -> None:
        import mindspore

        seen: list[int] = []
        run_in_process([job("healthy")], "CPU", lambda *_: seen.append(mindspore.get_context("mode")))
        assert (seen, mindspore.get_context("mode")) == ([mindspore.PYNATIVE_MODE] * 2, 0)

    def test_a_device_that_cannot_be_opened_is_an_error_before_anything_runs(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("STANDIN_CARDS", "0")
        with pytest.raises(
            MsCompatError, match="expected a MindSpore that runs on Ascend, found one on CPU: no Ascend"
        ):
            run_in_process([job("healthy")], "Ascend", lambda *_: pytest.fail("a probe ran"))

    def test_probes_run_one_after_the_other(self) -> None:
        told: list[str] = []
        batch = run_in_process(
            [job("healthy"), job("says_no")], "CPU", lambda name, one: told.append(f"{name} {one and one.answer.value}")
        )
        assert batch.measurements["healthy"].evidence["pid"] == os.getpid()
        assert told == ["healthy None", "healthy yes", "says_no None", "says_no no"]
        assert set(batch.seconds) == {"healthy", "says_no"}
        assert batch.children == 0

    def test_an_exception_costs_one_verdict(self) -> None:
        found = run_in_process([job("exits"), job("healthy")], "CPU").measurements
        assert [one.answer for one in found.values()] == [Answer.UNKNOWN, Answer.YES]

    def test_an_api_that_is_missing_is_a_no_that_names_it(self) -> None:
        (found,) = run_in_process([job("misses_an_api")], "CPU").measurements.values()
        assert (found.answer, found.summary) == (Answer.NO, "this MindSpore has no mindspore.mend")

    def test_ctrl_c_is_the_callers(self) -> None:
        with pytest.raises(KeyboardInterrupt):
            run_probe(faults.interrupts_itself)

    def test_the_counterproof_comes_before_the_probe(self) -> None:
        changed: list[str] = []
        feature = a_feature(
            probe=lambda: Finding(not changed, "as it is"), counterproof=lambda: changed.append("changed")
        )
        assert run_probe(feature).answer is Answer.YES
        assert run_probe(feature, counterproof=True).answer is Answer.NO

    def test_a_feature_without_a_counterproof_is_measured_as_it_is(self) -> None:
        assert run_probe(a_feature(), counterproof=True).answer is Answer.YES
