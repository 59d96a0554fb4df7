"""A subclass with __fallback__ inside a list that an operation takes; inside a tuple it is always found."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Concatenate a list with a subclass in the first place and in the second, and ask what it saw."""
    from mindspore import ops

    from ms_compat.probing.subclasses import intercepted
    from ms_compat.probing.workloads import tensor

    kind, seen = intercepted()
    for items in ([kind(tensor(1.0)), tensor(2.0)], [tensor(1.0), kind(tensor(2.0))]):
        joined = ops.cat(items).asnumpy().tolist()
        if joined != [1.0, 2.0]:
            raise RuntimeError(f"the concatenation is {joined}")
    return Finding(
        len(seen) == 2,
        f"__fallback__ was called for {len(seen)} of 2 concatenations of a list that has the subclass in it",
        {"called": len(seen), "operations": 2},
    )


FEATURE = Feature(
    name="subclass_fallback_in_lists",
    question="Is __fallback__ called where a Tensor subclass stands in a list of Tensors?",
    matters=(
        "ops.cat([sharded, plain]) silently goes on 2.8 and 2.9 past the __fallback__ of a DTensor and joins its local "
        "shard: the result has the wrong shape or the wrong values, and no layout, without an error."
    ),
    harm=Harm.WRONG,
    symptom="cat or concat of DTensors gives a plain Tensor with the size of the local shard",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Give the operation a tuple of Tensors instead of a list: ops.cat((a, b)) is always intercepted.",
        cost="none",
        missing="Use MindSpore >= 2.8 for Tensor subclasses with a __fallback__.",
        remove_when=">=2.10",
    ),
    groups=("subclasses",),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=("mindspore/ccsrc/pynative/forward/pyboost/fallback.cc", "mindspore/ops/function/array_func.py: cat"),
)
