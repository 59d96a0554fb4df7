"""The replay of a block updates running statistics a second time."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_MOMENTUM = 0.5


def probe() -> Finding:
    """Train through a recomputed BatchNorm for one step and look at its running mean."""
    import mindspore
    from mindspore import nn, ops

    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import accepts, block, recompute, value_and_grad, wake_numpy

    wake_numpy()
    checkpoint = recompute()
    ways: list[dict[str, bool]] = [{"use_reentrant": True}, {"use_reentrant": False}]
    if not accepts(checkpoint, "use_reentrant"):
        ways = [{}]
    batch = mindspore.Tensor([[1.0]] * 4, mindspore.float32)
    means: list[float] = []

    def running_mean(run: Any) -> float:
        norm = nn.BatchNorm1d(1, momentum=_MOMENTUM)
        norm.set_train()
        cell = block(lambda x: ops.exp(norm(x)))
        value_and_grad(lambda x: run(cell, x))(batch)
        return value(norm.moving_mean)

    right = running_mean(lambda cell, x: cell(x))
    means = [running_mean(lambda cell, x, way=way: checkpoint(cell, x, **way)) for way in ways]
    worst = max(means, key=lambda mean: abs(mean - right))
    return Finding(
        abs(worst - right) < 1e-3,
        f"after one step the running mean of a recomputed BatchNorm is {worst:.4f} (without recompute: {right:.4f})",
        {"running_mean": worst, "without_recompute": right},
    )


def counterproof() -> None:
    """Run the block once and keep what it saves."""
    from ms_compat.probing.tape import recompute_nothing

    recompute_nothing()


FEATURE = Feature(
    name="recompute_updates_statistics_once",
    question="Does recompute leave running statistics as they are without it?",
    matters=(
        "BatchNorm, counters, observers for quantization and running scales are updated in the forward and again in "
        "the replay: with recompute they follow twice as fast, and evaluation gives other results than the same "
        "training without it. torch has the same effect."
    ),
    harm=Harm.WRONG,
    symptom=(
        "moving_mean and moving_variance differ with and without recompute; evaluation accuracy drops, losses agree"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Keep layers with running statistics out of recomputed blocks, or update them only while "
            "ms_compat.is_recomputing() is False (not with use_reentrant=True of MindSpore itself, whose replay it "
            "cannot see). For a BatchNorm of momentum m, sqrt(m) makes up for the second update."
        ),
        cost="the activations of layers that are not recomputed",
    ),
    groups=("recompute",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/nn/layer/normalization.py: _BatchNorm", "mindspore/common/recompute.py: recompute"),
    counterproof=counterproof,
)
