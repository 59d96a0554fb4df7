"""Fixtures: every test runs in a folder of its own, without settings and with an empty home."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from typing import TYPE_CHECKING

import hypothesis
import pytest

from ms_compat.cache import Cache
from ms_compat.cli import main, measure, report
from ms_compat.probing import runner
from ms_compat.recorded import Recorded, row_key, row_name, write_row
from ms_compat.registry import Features
from tests.house import NAMES, move_in
from tests.standin import Probes, a_build, measured, write_mindspore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from ms_compat.build import Build
    from ms_compat.measurement import Measurement
    from ms_compat.probing.runner import Batch, Job, Progress

hypothesis.settings.register_profile("fast", database=None, deadline=None, max_examples=60)
hypothesis.settings.load_profile("fast")


@pytest.fixture(autouse=True)
def _clean_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("MS_COMPAT_"):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder first on ``sys.path``, for whatever a test installs there."""
    folder = tmp_path / "site"
    folder.mkdir()
    before = set(sys.modules)
    monkeypatch.delitem(sys.modules, "mindspore", raising=False)
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name, module in list(sys.modules.items()):
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if name not in before and str(origin).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def mindspore(site: Path) -> Path:
    """A stand-in MindSpore is installed; its folder."""
    return write_mindspore(site)


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in catalog is in place of the real one."""
    move_in(monkeypatch.setattr)


class Stage:
    """Features of the stand-in catalog with every source in the test's hands."""

    def __init__(self, folder: Path) -> None:
        self.build = a_build()
        self.probes = Probes()
        self.cache = Cache(str(folder / "cache"))
        self._recorded = folder / "recorded"
        self._recorded.mkdir()

    def features(self, **changes: Any) -> Features:
        """A new process's view of this stage."""
        given = {
            "build": self.build,
            "cache": self.cache,
            "recorded": Recorded(str(self._recorded)),
            "run_probes": self.probes,
        }
        return Features(**{**given, **changes})

    def record(self, **rows: Measurement) -> None:
        """Ship measurements of the build with the package."""
        write_row(str(self._recorded / row_name(row_key(self.build))), self.build, rows)

    def record_all(self, **others: Measurement) -> None:
        """Ship a yes for every feature, but for some another measurement."""
        self.record(**{**dict.fromkeys(NAMES, measured()), **others})

    def remember(self, **rows: Measurement) -> None:
        """Put measurements into the cache, as a former process would have."""
        former = self.features()
        self.cache.write(self.build, former._digests(rows), rows)


@pytest.fixture
def stage(tmp_path: Path, house: None) -> Stage:
    """The stand-in catalog, an unknown build, nothing recorded, an empty cache and probes that always say yes."""
    return Stage(tmp_path)


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Command:
    """Runs ``ms-compat`` in this process on a stage; a child is replaced by the stage's probes."""

    def __init__(self, stage: Stage, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.stage = stage
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        monkeypatch.setattr(runner, "run_in_child", self._run_in_child)
        self.options: dict[str, Any] = {}

    def _run_in_child(self, jobs: list[Job], build: Build, progress: Progress | None = None) -> Batch:
        batch = self.stage.probes(jobs, build)
        for name, measurement in batch.measurements.items():
            batch.seconds[name] = 0.25
            if progress is not None:
                progress(name, None)
                progress(name, measurement)
        batch.import_seconds = 1.5
        return batch

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of a new process with these arguments."""
        features = self.stage.features(**self.options)
        self._monkeypatch.setattr(report, "features", features)
        self._monkeypatch.setattr(measure, "features", features)
        self._capsys.readouterr()
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            try:
                code: Any = main(arguments)
            except SystemExit as end:
                code = end.code
        captured = self._capsys.readouterr()
        return code, captured.out, captured.err

    def json(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Exit code and what was printed as JSON; nothing else may be on standard output."""
        code, out, _ = self(*arguments, "--json")
        printed = json.loads(out)
        assert printed["schema"] == 1
        return code, printed


@pytest.fixture
def command(stage: Stage, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """``ms-compat`` on the stage."""
    monkeypatch.setenv("COLUMNS", "200")
    return Command(stage, capsys, monkeypatch)
