"""ReduceOp.AVG: a collective that averages over the group."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def inspect() -> Finding:
    """Look for the name."""
    from mindspore import ops

    found = hasattr(ops.ReduceOp, "AVG")
    return Finding(found, f"mindspore.ops.ReduceOp {'has' if found else 'has no'} AVG")


def probe() -> Finding:
    """Ask all_reduce to average. It reads its operator before its group, so a wrong group stops it behind that."""
    from ms_compat.probing.names import api
    from ms_compat.probing.workloads import first_line, tensor

    average = api("mindspore.ops", "ReduceOp", "AVG")
    all_reduce = api("mindspore.mint.distributed", "all_reduce")
    try:
        all_reduce(tensor(1.0), op=average, group=0)
    except TypeError as error:
        text = first_line(error)
    else:
        raise RuntimeError("all_reduce took a number for a group")
    accepted = "'group'" in text
    return Finding(
        accepted,
        f"all_reduce {'accepts' if accepted else 'refuses'} ReduceOp.AVG as its operator",
        {"operator": str(average), "refused_for": "group" if accepted else text},
    )


def counterproof() -> None:
    """Refuse it, as 2.9 does."""
    from ms_compat.probing.names import api

    distributed = api("mindspore.mint.distributed")
    original = distributed.all_reduce

    def all_reduce(tensor: Any, op: str = "sum", group: Any = None, async_op: bool = False) -> Any:
        if op not in {"sum", "prod", "min", "max"}:
            raise TypeError("For all_reduce, the input op value must be one of sum, prod, min, max")
        return original(tensor, op, group, async_op)

    distributed.all_reduce = all_reduce


FEATURE = Feature(
    name="reduce_op_avg",
    question="Can a collective average (ReduceOp.AVG)?",
    matters=(
        "HyperParallel's fully_shard names ReduceOp.AVG as the default argument of a function, so on 2.9 and older it "
        "cannot be imported at all. The string 'avg' is refused there as well."
    ),
    harm=Harm.MOVED,
    symptom=(
        "AttributeError: type object 'ReduceOp' has no attribute 'AVG'; TypeError: For all_reduce, the input op value "
        "must be one of sum, prod, min, max"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.all_reduce_mean",
        action="Call ms_compat.all_reduce_mean, which adds up and divides by the size of the group.",
        cost="one more operation per reduction where the release cannot average; the sum may overflow in float16",
        remove_when=">=2.10",
    ),
    groups=("communication", "moved_names"),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=(
        "mindspore/ops/operations/comm_ops.py: ReduceOp",
        "mindspore/mint/distributed/distributed.py: all_reduce",
        "hyper_parallel/platform/mindspore/fully_shard/param.py",
    ),
    counterproof=counterproof,
    inspect=inspect,
)
