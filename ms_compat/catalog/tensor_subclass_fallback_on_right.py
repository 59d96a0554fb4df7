"""A plain Tensor on the left of an operator and a subclass with __fallback__ on its right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable

_REFUSED = "Cannot found __fallback__"


def probe() -> Finding:
    """Use + and - both ways round and ask which of them work."""
    import operator

    from ms_compat.probing.subclasses import intercepted
    from ms_compat.probing.workloads import first_line, tensor

    kind, seen = intercepted()
    operators: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub}
    refused, said = [], None
    for symbol, function in operators.items():
        function(kind(tensor(2.0)), tensor(3.0))
        try:
            function(tensor(2.0), kind(tensor(3.0)))
        except RuntimeError as error:
            if _REFUSED not in str(error):
                raise
            refused.append(symbol)
            said = first_line(error)
    if len(seen) < len(operators):
        raise RuntimeError("__fallback__ is not called with the subclass on the left either")
    passed_by = 2 * len(operators) - len(seen) - len(refused)
    return Finding(
        not refused and not passed_by,
        f"{len(refused)} of {len(operators)} operators refuse a subclass on their right"
        + (f": {said}" if said else ""),
        {"refused": len(refused), "passed_by": passed_by, "operators": len(operators), "error": said},
    )


def counterproof() -> None:
    """Let the operators go through ops, whose functions look at both sides."""
    import mindspore
    from mindspore import ops

    mindspore.Tensor.__add__ = lambda left, right: ops.add(left, right)  # noqa: PLW0108 - a method must bind
    mindspore.Tensor.__sub__ = lambda left, right: ops.sub(left, right)  # noqa: PLW0108


FEATURE = Feature(
    name="tensor_subclass_fallback_on_right",
    question="Does plain + subclass work where the subclass has a __fallback__?",
    matters=(
        "A DTensor added to a plain Tensor works or fails by which of them stands on the left: a residual, a mask or a "
        "constant on the left of a sharded activation fails, in +, -, * and ** as in Tensor.add and Tensor.mul."
    ),
    harm=Harm.FAILS,
    symptom="RuntimeError: Cannot found __fallback__ attr from object Tensor",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Put the subclass on the left, or call ops.add, ops.sub or ops.mul, which look at both sides. Not "
            "mint.add and mint.mul: below 2.10 they can crash the process."
        ),
        cost="none",
        missing="Use MindSpore >= 2.8 for Tensor subclasses with a __fallback__.",
    ),
    groups=("subclasses",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "mindspore/ccsrc/pynative/forward/pyboost/fallback.cc",
        "hyper_parallel/platform/mindspore/dtensor.py: DTensorBase.__fallback__",
    ),
    counterproof=counterproof,
)
