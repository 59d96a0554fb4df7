"""x += y makes a new Tensor and leaves the one that x named, and whatever shares its memory, as it was."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable

_START = 3.0
#: Each operator and what the Tensor has to hold once it was applied with 2.
_OPERATORS: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "+=": (operator.iadd, 5.0),
    "-=": (operator.isub, 1.0),
    "*=": (operator.imul, 6.0),
    "/=": (operator.itruediv, 1.5),
    "//=": (operator.ifloordiv, 1.0),
    "%=": (operator.imod, 1.0),
}


def probe() -> Finding:
    """Apply each operator to a Tensor and look what its first name refers to afterwards."""
    from ms_compat.probing.tensors import listing, numbers
    from ms_compat.probing.workloads import tensor, wake_numpy

    wake_numpy()
    unchanged = []
    for sign, (apply, right) in _OPERATORS.items():
        x = tensor(_START)
        result = apply(x, 2.0)
        (found,), (returned,) = numbers(x), numbers(result)
        if abs(returned - right) > 1e-3:
            raise RuntimeError(f"{_START} {sign} 2 gives {returned}, not {right}")
        if found == _START:
            unchanged.append(sign)
    return Finding(
        not unchanged,
        f"{len(unchanged)} of {len(_OPERATORS)} operators leave the Tensor on their left as it was "
        f"({listing(unchanged)})",
        {"unchanged": listing(unchanged), "operators": len(_OPERATORS)},
    )


def counterproof() -> None:
    """Write what each operator returns."""
    from ms_compat.probing.tensors import repair_methods

    repair_methods("__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__")


FEATURE = Feature(
    name="augmented_assignment_mutates",
    question="Does x += y change the Tensor itself, so that its other names and its views see it?",
    matters=(
        "Code ported from torch adds into a buffer through a second name: a gradient taken out of a dict, an element "
        "of a list, an argument of a function. On CPU the name on the left is bound to a new Tensor and the buffer "
        "keeps its old value, so what was added is lost."
    ),
    harm=Harm.WRONG,
    symptom=(
        "gradients or statistics that are accumulated with += inside a function or a loop over tensors do not change; "
        "x += y gives a new tensor (id(x) changes)"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.add_",
        action=(
            "Call ms_compat.add_(x, y) instead of x += y (sub_, mul_, div_ for the others), or store the result where "
            "the others look it up: grads[name] = grads[name] + g. The call is not recorded: where a gradient has to "
            "flow through it, compute a new Tensor instead (x = x + y)."
        ),
        cost="one more Tensor of the same size, and a copy, per call",
    ),
    groups=("inplace",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/common/_tensor_cpp_method.py: __iadd__",
        "hyper_parallel/platform/torch/fully_shard/param.py: unsharded_accumulated_grad += grad, as torch has it",
    ),
    counterproof=counterproof,
)
