"""Runs a few lines in a fresh interpreter: for what may crash, or is only true of the first call of a process."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from typing import NamedTuple

__all__ = ["Ending", "change_alone", "run_alone"]

#: A crash on purpose leaves no core file of some GiB, and nothing that MindSpore does at exit can hang. This package is
#: found as the probing child finds it, also where it is not on the path.
_FRAME = """\
import importlib.util, json, os, resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.path[:] = json.loads(sys.argv[1])
package = sys.argv[4]
spec = importlib.util.spec_from_file_location(
    "ms_compat", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
)
sys.modules["ms_compat"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["ms_compat"])
import mindspore
mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
mindspore.set_device(sys.argv[2])
exec(compile(sys.argv[3], "<alone>", "exec"), {"__name__": "alone", "mindspore": mindspore})
sys.stdout.flush()
os._exit(0)
"""


class Ending(NamedTuple):
    """How a program ended.

    Attributes:
        signal: the number of the signal that ended it, or 0.
        output: what it wrote to standard output.
        error: the last line it wrote to standard error, or an empty string where it ended well or by a signal.
    """

    signal: int
    output: str
    error: str


_changes: list[str] = []


def change_alone(source: str) -> None:
    """Change MindSpore in every program that is run alone from now on; for counterproofs.

    Args:
        source: the lines that change it, with MindSpore imported as ``mindspore``.
    """
    _changes.append(source)


def run_alone(program: str, *, seconds: float = 27.0) -> Ending:
    """Run a program in a fresh interpreter with MindSpore imported as ``mindspore``, on this process's device target.

    Args:
        program: the source; what it prints comes back.
        seconds: the limit, the import of MindSpore included.

    Raises:
        subprocess.TimeoutExpired: it did not end in time; it is killed.
    """
    device = importlib.import_module("mindspore").get_context("device_target")
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    source = "\n".join((*_changes, program))
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", _FRAME, json.dumps(sys.path), device, source, package],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    said = done.stderr.strip().splitlines()
    return Ending(max(0, -done.returncode), done.stdout, said[-1] if done.returncode > 0 and said else "")
