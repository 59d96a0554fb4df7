"""Each non-tensor argument of an operator leaves some host memory behind."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_CALLS = 80
#: Non-tensor arguments of each call: the axis, whether to keep it, and the dtype.
_ARGUMENTS = 3
#: Bytes per argument; what stays is about 160, the noise is below 20.
_THRESHOLD = 60.0


def probe() -> Finding:
    """Call an operator with three non-tensor arguments, against one that has none."""
    from mindspore import mint, ops

    from ms_compat.probing.growth import measure
    from ms_compat.probing.workloads import tensor

    x = tensor(0.5, 0.5)

    def with_arguments() -> None:
        for _ in range(_CALLS):
            mint.sum(x, 0)

    def without() -> None:
        for _ in range(_CALLS):
            ops.exp(x)

    growth = measure(with_arguments, control=without, steps=1, warmup=1)
    stays = max(0.0, growth.bytes_per_step / _CALLS / _ARGUMENTS)
    return Finding(
        not growth.bytes_exceed(_THRESHOLD * _CALLS * _ARGUMENTS),
        f"{stays:.0f} bytes stay behind for each non-tensor argument of a call (control without one: 0)",
        {"bytes_per_argument": round(stays), "calls_per_step": _CALLS, "steps": growth.steps},
    )


FEATURE = Feature(
    name="scalar_arguments_release_memory",
    question="Does an operator let go of the memory for its non-tensor arguments?",
    matters=(
        "A dtype, an axis or a flag costs some 160 bytes per call on CPU and they add up: a few KiB per training step, "
        "hundreds of MiB in a long run of small steps or in a server. Whoever hunts a leak by looking at host memory "
        "finds this one first, in a program without a fault."
    ),
    harm=Harm.GROWS,
    symptom=(
        "host memory grows by some KiB per step on CPU from 2.8 on, in inference as well; the number of Tensors does "
        "not"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "On CPU, put the hot part into a mindspore.jit function, where it does not happen, restart long runs from "
            "a checkpoint, and judge a leak only against a control that makes the same calls."
        ),
        cost="compiling the function once per input shape",
    ),
    groups=("memory",),
    spans=(Span(">=2.7.2,<2.8", True, device="CPU"), Span(">=2.8,<2.11", False, device="CPU")),
    references=("mindspore/ops/auto_generate/gen_ops_def.py: sum_ext",),
)
