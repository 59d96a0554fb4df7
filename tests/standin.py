"""A stand-in MindSpore and ready-made objects: they have the shape of the real ones and none of the weight."""

from __future__ import annotations

import importlib.machinery
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ms_compat.build import Build
from ms_compat.feature import Feature, Finding, Harm, Remedy
from ms_compat.feature import Path as Way
from ms_compat.measurement import Answer, Measurement
from ms_compat.probing.runner import Batch, now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ms_compat.probing.runner import Job

ROOT = Path(__file__).resolve().parent.parent

#: Leaves its process id in the file that STANDIN_MARK names, so that a test can count the children.
MINDSPORE = """\
import os

PYNATIVE_MODE = 1
if "STANDIN_MARK" in os.environ:
    with open(os.environ["STANDIN_MARK"], "a") as mark:
        mark.write(f"{os.getpid()}\\n")


context = {"mode": 0, "device_target": "CPU"}


def get_context(name):
    return context[name]


def set_context(mode):
    context["mode"] = mode


def set_device(target):
    if os.environ.get("STANDIN_CARDS") == "0" and target != "CPU":
        raise RuntimeError(f"no {target} here")
    context["device_target"] = target
"""


def write_mindspore(
    site: Path,
    *,
    version: str = "2.99.0",
    metadata: str | None = "2.99.0",
    commit: str | None = "0123abcd",
    code: str = MINDSPORE,
) -> Path:
    """Write a stand-in MindSpore into a folder for ``sys.path``; returns the package's folder."""
    package = site / "mindspore"
    (package / "common").mkdir(parents=True)
    (package / "common" / "api.py").write_text("")
    (package / "__init__.py").write_text(code)
    (package / "version.py").write_text(f"__version__ = '{version}'\n")
    (package / f"_c_expression{importlib.machinery.EXTENSION_SUFFIXES[0]}").write_bytes(b"compiled")
    if commit is not None:
        (package / ".commit_id").write_text(f"__commit_id__ = '[sha1]:{commit},[branch]:(HEAD,origin/r2.99)'\n")
    if metadata is not None:
        write_metadata(site, "mindspore", metadata)
    return package


def write_metadata(site: Path, name: str, version: str) -> Path:
    """Write what an installer leaves beside a package."""
    folder = site / f"{re.sub('[-.]+', '_', name)}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
    return folder


def a_build(**changes: Any) -> Build:
    """The identity of a MindSpore that nobody recorded."""
    return Build(
        **{
            "version": "2.99.0",
            "commit": "0123abcd",
            "python": "cpython-311",
            "numpy": "1.26.4",
            "platform": "linux-x86_64",
            "device_target": "CPU",
            "extension_size": 8,
            "extension_mtime": 1_700_000_000_000_000_000,
            "sources": "89abcdef",
            "location": "/site/mindspore",
            "installed_as": "wheel",
            **changes,
        }
    )


NO_MINDSPORE = a_build(
    version=None,
    commit=None,
    extension_size=None,
    extension_mtime=None,
    sources=None,
    location=None,
    installed_as="missing",
)


def a_remedy(path: Way = Way.WARN, **changes: Any) -> Remedy:
    """What to do about a no."""
    shim = "ms_compat.mend" if path is Way.WORKAROUND else None
    return Remedy(**{"path": path, "action": "Mend it.", "cost": "nothing", "shim": shim, **changes})


def a_feature(name: str = "holds_water", probe: Callable[[], Finding] | None = None, **changes: Any) -> Feature:
    """A catalog entry whose probe says yes."""
    return Feature(
        **{
            "name": name,
            "question": "Does it hold water?",
            "matters": "A leak fills the cellar.",
            "harm": Harm.GROWS,
            "symptom": "wet feet",
            "probe": probe or (lambda: Finding(True, "dry after 3 steps", {"steps": 3})),
            "remedy": a_remedy(),
            "groups": ("water",),
            "spans": (),
            "references": ("the cellar",),
            **changes,
        }
    )


def measured(answer: Answer = Answer.YES, summary: str = "as measured", **evidence: Any) -> Measurement:
    """A measurement taken just now."""
    return Measurement(answer, summary, evidence, now())


class Probes:
    """Answers in place of a probing child, and remembers what it was asked."""

    def __init__(self, answers: Mapping[str, Measurement] | None = None, seconds: float = 0.0) -> None:
        self.answers = dict(answers or {})
        self.seconds = seconds
        self.batches: list[list[str]] = []

    def __call__(self, jobs: list[Job], build: Build) -> Batch:
        names = [job.feature.name for job in jobs]
        self.batches.append(names)
        time.sleep(self.seconds)
        return Batch({name: self.answers.get(name, measured()) for name in names}, children=1)


def start_python(*arguments: str, path: tuple[Path, ...] = (), **variables: str) -> subprocess.Popen[str]:
    """Start another Python that finds this checkout, and a stand-in MindSpore where a path is given."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("COVERAGE_", "PYTHON"))},
        "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT))),
        **variables,
    }
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_python(*arguments: str, path: tuple[Path, ...] = (), **variables: str) -> tuple[int, str, str]:
    """Run another Python to its end; returns exit code, standard output and standard error."""
    process = start_python(*arguments, path=path, **variables)
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def eventually(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether something becomes true within some seconds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def has_ended(pid: int) -> bool:
    """Whether a process is no more; one that nobody has waited for counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def marked(mark: Path) -> list[int]:
    """The process ids that stand-in MindSpores left in a file."""
    return [int(line) for line in mark.read_text().split()] if mark.exists() else []
