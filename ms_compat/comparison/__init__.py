"""Native and workaround side by side on the installed MindSpore: the A/B behind a verdict, step by step.

Each arm runs in a child process of its own, so that what one leaves behind is not counted for the other, and a Tensor
that blocks for ever cannot hold up the caller.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ms_compat.errors import MsCompatError
from ms_compat.registry import features

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Arm", "CompareError", "Comparison", "comparable", "compare"]


class CompareError(MsCompatError, RuntimeError):
    """An arm of a comparison could not be run to its end."""


@dataclass(frozen=True, slots=True)
class Arm:
    """What one arm measured, a figure a step.

    Attributes:
        tensors: live Tensors after each step, counted by type.
        host_bytes: host memory in use after each step in bytes; empty where it cannot be read.
        seconds: time of each step in seconds.
        gradients: digest of the gradients of each step; empty for a step that gave none.
        error: what the arm raised, or None. It has the figures of the steps before.
    """

    tensors: Sequence[int]
    host_bytes: Sequence[int]
    seconds: Sequence[float]
    gradients: Sequence[str]
    error: str | None

    @property
    def tensors_per_step(self) -> float:
        """Live Tensors gained per step over the second half, when everything has warmed up."""
        return _slope(self.tensors)

    @property
    def bytes_per_step(self) -> float | None:
        """Host memory gained per step over the second half in bytes, or None."""
        return _slope(self.host_bytes) if self.host_bytes else None

    @property
    def median_seconds(self) -> float | None:
        """Median time of a step of the second half in seconds, or None where there was none."""
        half = sorted(self.seconds[len(self.seconds) // 2 :])
        return half[len(half) // 2] if half else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both arms of one feature's A/B.

    Attributes:
        feature: the feature's name.
        build: label of the MindSpore it ran on.
        native: MindSpore's own behaviour.
        workaround: the shim's.
    """

    feature: str
    build: str
    native: Arm
    workaround: Arm

    @property
    def gradients_agree(self) -> bool | None:
        """Whether every step that both arms ended gave the same gradients to the bit; None where there is none."""
        pairs = [pair for pair in zip(self.native.gradients, self.workaround.gradients, strict=False) if all(pair)]
        return all(one == other for one, other in pairs) if pairs else None

    @property
    def time_ratio(self) -> float | None:
        """Median step time of the workaround divided by the native one's, or None."""
        mine, base = self.workaround.median_seconds, self.native.median_seconds
        return mine / base if mine and base else None

    def as_json(self) -> dict[str, Any]:
        """Series and conclusions as JSON-ready values."""
        return {
            "feature": self.feature,
            "build": self.build,
            **{
                name: {**asdict(arm), "tensors_per_step": arm.tensors_per_step, "bytes_per_step": arm.bytes_per_step}
                for name, arm in (("native", self.native), ("workaround", self.workaround))
            },
            "gradients_agree": self.gradients_agree,
            "time_ratio": self.time_ratio,
        }


def comparable() -> tuple[str, ...]:
    """The features that have an A/B, sorted."""
    from ms_compat.comparison.workloads import WORKLOADS

    return tuple(sorted(WORKLOADS))


def compare(name: str, *, steps: int = 50, layers: int = 4, size: int = 64, timeout: float = 600.0) -> Comparison:
    """Run both arms of a feature's A/B on the installed MindSpore.

    Args:
        name: a feature of `comparable`.
        steps: training steps of each arm, at least 2.
        layers: blocks of the model.
        size: width of a block.
        timeout: seconds each arm may take.

    Raises:
        UnknownFeatureError: no feature has that name.
        CompareError: the feature has no A/B, there is no MindSpore, or an arm crashed or took too long.
    """
    feature = features.feature(name)
    if name not in comparable():
        raise CompareError(f"{feature.name} has no A/B; these have one: {', '.join(comparable())}")
    if min(steps - 1, layers, size) < 1:
        raise CompareError(f"expected at least 2 steps, 1 layer and size 1, found {steps}, {layers} and {size}")
    if not features.build.usable:
        raise CompareError("there is no MindSpore to compare on")
    arms = [_run_arm(name, arm, steps, layers, size, timeout) for arm in ("native", "workaround")]
    return Comparison(name, features.build.label, arms[0], arms[1])


def _run_arm(name: str, arm: str, steps: int, layers: int, size: int, timeout: float) -> Arm:
    from ms_compat.probing.runner import child_environment, child_path

    request = {"feature": name, "arm": arm, "steps": steps, "layers": layers, "size": size}
    script = "import sys; sys.path[:] = {path!r}; from ms_compat.comparison.child import main; main({request!r})"
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = script.format(path=[*child_path(), package], request=json.dumps(request))
    with tempfile.TemporaryDirectory(prefix="ms_compat-") as scratch:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-c", program],
                cwd=scratch,
                env=child_environment(os.environ, features.build.device_target),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CompareError(f"the {arm} arm of {name} took longer than {timeout:g} s") from None
    line = next((line for line in reversed(done.stdout.splitlines()) if line.startswith('{"tensors"')), None)
    if line is None:
        raise CompareError(f"the {arm} arm of {name} ended with exit code {done.returncode}: {done.stderr[-2000:]}")
    return Arm(**json.loads(line))


def _slope(series: Sequence[float]) -> float:
    half = series[len(series) // 2 :]
    return (half[-1] - half[0]) / (len(half) - 1) if len(half) > 1 else 0.0
