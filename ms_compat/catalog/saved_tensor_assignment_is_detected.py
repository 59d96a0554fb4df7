"""A Tensor that the backward needs and that an item assignment or ops.assign has changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable

_POINT = 0.5
_WRITTEN = 9.0


def _set_all(y: Any) -> None:
    y[:] = _WRITTEN


def probe() -> Finding:
    """Change what the backward of y * y needs in several ways and compare the gradient that comes out."""
    import math

    from mindspore import ops

    from ms_compat.probing.tensors import listing
    from ms_compat.probing.workloads import backward, leaf, recording, tensor, wake_numpy

    wake_numpy()
    right = 2.0 * math.exp(2.0 * _POINT)

    def slope(write: Callable[[Any], object]) -> float | None:
        """The gradient of exp(x) ** 2, or None where the change is an error."""
        with recording():
            x = leaf(_POINT)
            y = ops.exp(x)
            z = ops.mul(y, y)
            write(y)
            try:
                backward(z)
            except RuntimeError as error:
                if "inplace" not in str(error) and "in-place" not in str(error):
                    raise
                return None
            return float(x._grad.asnumpy()[0])

    if slope(lambda y: y.copy_(tensor(_WRITTEN))) is not None:
        raise RuntimeError("not even copy_ into a saved tensor is an error here")
    ways = {
        "t[:] = v": _set_all,
        "ops.assign": lambda y: ops.assign(y, tensor(_WRITTEN)),
        "ops.assign_add": lambda y: ops.assign_add(y, tensor(_WRITTEN)),
    }
    found = {name: slope(write) for name, write in ways.items()}
    wrong = [name for name, value in found.items() if value is not None and abs(value - right) > 1e-3]
    worst = max((found[name] or 0.0 for name in wrong), default=None)
    return Finding(
        not wrong,
        f"{len(wrong)} of {len(ways)} ways to change a saved tensor go unnoticed ({listing(wrong)})"
        + (f" and the gradient becomes {worst:.4f} (right: {right:.4f})" if worst is not None else ""),
        {
            "unnoticed": listing(wrong),
            "ways": len(ways),
            "gradient": None if worst is None else round(worst, 4),
            "right_gradient": round(right, 4),
        },
    )


def counterproof() -> None:
    """Write with copy_, which counts the change."""
    from ms_compat.probing.tensors import count_writes

    count_writes()


FEATURE = Feature(
    name="saved_tensor_assignment_is_detected",
    question="Is it an error when a backward uses a Tensor that was assigned to after the forward saved it?",
    matters=(
        "copy_ is noticed and the backward raises, as in torch. An item assignment, ops.assign and ops.assign_add are "
        "not: the backward computes with the new values and the gradient is that of neither. Masking an activation in "
        "place does this; for weights see parameter_write_before_backward_is_detected."
    ),
    harm=Harm.WRONG,
    symptom=(
        "gradients are wrong, without an error, when an activation is assigned to (y[mask] = 0) or a weight is updated "
        "between its forward and its backward"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Assign to a copy of an activation (y = y.copy(); y[0] = v) or use ops.where; write with copy_, which is "
            "noticed, and step the optimizer only after every backward of the step."
        ),
        cost="one more Tensor of the activation's size",
    ),
    groups=("inplace", "tape", "saved_tensors"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/common/tensor.py: Tensor._setitem_origin",
        "mindspore/ops/function/parameter_func.py: assign, assign_add",
    ),
    counterproof=counterproof,
)
