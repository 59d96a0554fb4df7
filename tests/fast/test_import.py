"""What an import and a look-up pull in, seen in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from ms_compat.build import find_build
from ms_compat.measurement import Answer
from tests.standin import ROOT, measured

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fast.conftest import Stage

HEAVY = ("mindspore", "rich", "platformdirs", "filelock", "importlib_metadata", "packaging", "subprocess", "hashlib",
         "ms_compat.probing.runner", "ms_compat.cache", "ms_compat.cli")  # fmt: skip


def imported_by(code: str, *arguments: str) -> set[str]:
    """The modules that some code adds to those that Python itself has started with."""
    program = f"import sys, json; sys.path[:0] = {[str(ROOT)]!r}; before = set(sys.modules)\n{code}\n"
    program += "sys.stdout.write(json.dumps(sorted(set(sys.modules) - before)))"
    # -I and no site-packages' start-up files in the way: an editable installation may import a lot by itself.
    done = subprocess.run([sys.executable, "-I", "-c", program, *arguments], check=True, capture_output=True, text=True)
    found: Any = json.loads(done.stdout)
    return set(found)


def test_importing_the_package_imports_nothing_else() -> None:
    assert imported_by("import ms_compat") == {"ms_compat"}


def test_importing_the_door_imports_neither_mindspore_nor_anything_that_probes() -> None:
    assert not imported_by("from ms_compat import features").intersection(HEAVY)


def test_a_look_up_on_a_recorded_build_imports_nothing_heavy(stage: Stage, mindspore: Path, tmp_path: Path) -> None:
    code = f"""
sys.path.append({str(mindspore.parent)!r})
from ms_compat import features
from ms_compat.recorded import Recorded
from tests.house import move_in
move_in()
features._recorded = Recorded({str(tmp_path / "recorded")!r})
assert features.frees_memory.source.value == "recorded"
assert not features.frees_memory
"""
    stage.build = find_build("CPU")
    stage.record(frees_memory=measured(Answer.NO))
    assert not imported_by(code).intersection(HEAVY)
