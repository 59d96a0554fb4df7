"""The example under examples/, installed as anybody would: a feature and a shim of another package, end to end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

#: Prints what the shim gives, and its gradient, at three points.
PROGRAM = """\
import json, sys
import mindspore
from mindspore import Tensor, ops
from another_library.activations import gelu
x = Tensor([-1.0, 0.5, 2.0], mindspore.float32)
value, slope = mindspore.value_and_grad(lambda x: ops.sum(gelu(x)))(x)
sys.stdout.write("\\n" + json.dumps([float(value.asnumpy()), slope.asnumpy().tolist()]) + "\\n")
"""
RIGHT = [pytest.approx(2.1416, abs=1e-3), pytest.approx([-0.08332, 0.86750, 1.08523], abs=1e-4)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    folder = tmp_path_factory.mktemp("site")
    source = pytestconfig.rootpath / "examples" / "another-library"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), str(source)]
    subprocess.run(install, check=True, cwd=folder)
    return folder


@pytest.fixture
def run(site: Path, tmp_path: Path, pytestconfig: pytest.Config) -> Any:
    def call(*arguments: str, **variables: str) -> tuple[str, str]:
        paths = os.pathsep.join((str(site), str(pytestconfig.rootpath)))
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": paths, "MS_COMPAT_CACHE_DIR": str(tmp_path / "cache"), **variables},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout, done.stderr

    return call


def test_its_feature_is_probed_and_planned_for(run: Any) -> None:
    out, _ = run("-m", "ms_compat", "show", "mint_gelu_runs", "--json")
    feature = json.loads(out)["features"]["mint_gelu_runs"]
    assert (feature["verdict"], feature["source"]) == ("no", "probed")
    assert feature["plan"]["path"] == "workaround"
    assert feature["plan"]["shim"] == "another_library.activations.gelu"


def test_what_it_works_round_is_there(run: Any) -> None:
    with pytest.raises(AssertionError, match="kernel GeluExt unregistered"):
        run("-c", PROGRAM, MS_COMPAT_OVERRIDE="mint_gelu_runs=yes")


def test_its_shim_is_right(run: Any) -> None:
    out, _ = run("-c", PROGRAM)
    assert json.loads(out.splitlines()[-1]) == RIGHT


def test_a_broken_neighbour_is_reported_and_costs_nothing_else(run: Any, site: Path) -> None:
    metadata = site / "broken_library-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.4\nName: broken-library\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[ms_compat.features]\nnever_there = broken_library.nowhere:FEATURE\n")
    out, err = run("-m", "ms_compat", "show", "mint_gelu_runs", "run_backward_differentiates", "--json")
    assert {row["verdict"] for row in json.loads(out)["features"].values()} <= {"yes", "no"}
    assert "contributed feature 'never_there': broken_library.nowhere:FEATURE cannot be used" in err
