"""Collectives of a real job of two processes on the CPU."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ms_compat import Features

#: What each of the two ranks runs.
PROGRAM = """\
import sys
import mindspore, numpy
from mindspore import Tensor, communication
mindspore.set_device("CPU")
communication.init("mccl")
import ms_compat
rank = communication.get_rank()
mean = Tensor(numpy.full(4, rank + 1, numpy.float32))
ms_compat.all_reduce_mean(mean)
later = Tensor(numpy.full(4, 10.0 * (rank + 1), numpy.float32))
handle = ms_compat.all_reduce_mean(later, async_op=True)
handle.wait()
handle.wait()
try:
    ms_compat.all_reduce_mean(Tensor([rank]))
except TypeError as error:
    refused = "expected a floating-point Tensor" in str(error)
sys.stdout.write(f"RANK {rank} {mean.asnumpy().tolist()} {later.asnumpy().tolist()} {refused}\\n")
"""


@pytest.mark.parametrize("path", ["native", "sum"])
def test_a_mean_over_two_ranks_is_the_mean(tmp_path: Path, pytestconfig: pytest.Config, path: str) -> None:
    averages = bool(Features().reduce_op_avg)
    if path == "native" and not averages:
        pytest.skip("ReduceOp.AVG is missing here")
    (tmp_path / "program.py").write_text(PROGRAM)
    with socket.socket() as probing:
        probing.bind(("127.0.0.1", 0))
        port = probing.getsockname()[1]
    programs = Path(sys.executable).parent
    environment = {
        **os.environ,
        # The workers are started as "python".
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(pytestconfig.rootpath),
        **({"MS_COMPAT_OVERRIDE": "reduce_op_avg=no"} if path == "sum" and averages else {}),
    }
    job = subprocess.run(
        [
            sys.executable, str(programs / "msrun"), "--worker_num=2", "--local_worker_num=2",
            f"--master_port={port}", f"--log_dir={tmp_path / 'log'}", "--join=True", str(tmp_path / "program.py"),
        ],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    logs = "".join(log.read_text(errors="replace") for log in sorted((tmp_path / "log").glob("worker*.log")))
    said = sorted(line for line in logs.splitlines() if line.startswith("RANK"))
    assert said == [f"RANK {rank} {[1.5] * 4} {[15.0] * 4} True" for rank in (0, 1)], job.stdout[-2000:] + logs[-4000:]
