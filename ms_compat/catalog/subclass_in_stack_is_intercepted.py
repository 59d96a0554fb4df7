"""ops.stack of Tensor subclasses that intercept operations."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Stack a tuple with a subclass in it and, as the control, concatenate it, and ask what was intercepted."""
    from mindspore import ops

    from ms_compat.probing.subclasses import interception

    return interception("ops.stack", lambda x: ops.stack((x, x)), "ops.cat of a tuple", lambda x: ops.cat((x, x)))


def counterproof() -> None:
    """Let it concatenate what it has given a dimension more."""
    from mindspore import ops

    def stack(tensors: Any, axis: int = 0) -> Any:
        return ops.cat(tuple(one.expand_dims(axis) for one in tensors), axis)

    ops.stack = stack


FEATURE = Feature(
    name="subclass_in_stack_is_intercepted",
    question="Do __fallback__ and __ms_dispatch__ see ops.stack of a tuple of Tensors?",
    matters=(
        "ops.stack silently passes by the __fallback__ of a DTensor and stacks its local shard, on every release; "
        "ops.cat of a tuple does not. __ms_dispatch__, of a mode or a subclass, does see it."
    ),
    harm=Harm.WRONG,
    symptom="ops.stack of DTensors gives a plain Tensor with the size of the local shards",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Concatenate what has a dimension more instead: ops.cat(tuple(t.expand_dims(axis) for t in tensors), axis)."
        ),
        cost="one more operation per Tensor",
        missing="Use MindSpore >= 2.8 for Tensor subclasses with a __fallback__.",
    ),
    groups=("subclasses",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/ops/function/array_func.py: stack", "hyper_parallel/platform/mindspore/dtensor.py"),
    counterproof=counterproof,
)
