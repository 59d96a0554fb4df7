"""The suite on a real MindSpore: every probe has run once, in one child, before the first test looks at a verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ms_compat import Features
from ms_compat.build import find_build

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ms_compat.probing.runner import Batch

    InChild = Callable[..., Any]


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["MS_COMPAT_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache", numbered=False))


@pytest.fixture(scope="session")
def version() -> str:
    found = find_build().version
    assert found is not None, "this suite needs a real MindSpore"
    return found


@pytest.fixture(scope="session")
def probed(_own_cache: None) -> Batch:
    return Features().probe()


@pytest.fixture
def in_child(tmp_path: Path, pytestconfig: pytest.Config) -> InChild:
    """Calls a function of a test module in a child process under a time limit and returns what it returns.

    What is measured may block for ever: a Tensor that MindSpore leaked must never hold up the suite.
    """

    def call(function: Callable[..., Any], *arguments: Any, timeout: float = 240) -> Any:
        program = (
            "import sys, json, os; root, module, name, arguments = sys.argv[1:]; sys.path.insert(0, root)\n"
            "import importlib, mindspore\n"
            "mindspore.set_context(mode=mindspore.PYNATIVE_MODE); mindspore.set_device('CPU')\n"
            "answer = getattr(importlib.import_module(module), name)(*json.loads(arguments))\n"
            "print('\\n' + json.dumps(answer), flush=True); os._exit(0)"
        )
        where = [str(pytestconfig.rootpath), function.__module__, function.__name__, json.dumps(arguments)]
        done = subprocess.run(
            [sys.executable, "-c", program, *where], cwd=tmp_path, capture_output=True, text=True, timeout=timeout
        )
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
        return json.loads(done.stdout.strip().splitlines()[-1])

    return call
