"""np.float64(2) * x takes a Tensor out of the graph: numpy computes it and the result is a numpy number."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_WEIGHT = 2.0
#: Where it is differentiated, and the derivative of x * x + 2 * x there.
_POINT, _SLOPE = 1.5, 5.0


def probe() -> Finding:
    """Differentiate a loss to which another one is added that a numpy number on the left multiplies."""
    import numpy as np
    from mindspore import ops

    from ms_compat.probing.workloads import tensor, value_and_grad, wake_numpy

    wake_numpy()
    kinds: list[str] = []

    def loss(x: Any) -> Any:
        extra = np.float64(_WEIGHT) * x.sum()
        kinds.append(type(extra).__name__)
        # float() changes nothing in a numpy number; with numpy 2 a Tensor takes no other kind of number.
        return ops.mul(x, x).sum() + (float(extra) if isinstance(extra, np.generic) else extra)

    _, slope = value_and_grad(loss)(tensor(_POINT))
    found = float(slope.asnumpy()[0])
    return Finding(
        abs(found - _SLOPE) < 1e-3,
        f"np.float64({_WEIGHT:g}) * x is a {kinds[0]} and the gradient of x * x + np.float64({_WEIGHT:g}) * x at "
        f"{_POINT} is {found:.2f} (right: {_SLOPE:.2f})",
        {"result_type": kinds[0], "gradient": round(found, 4), "right_gradient": _SLOPE},
    )


def counterproof() -> None:
    """Make numpy leave the operation to the Tensor."""
    import mindspore

    mindspore.Tensor.__array_ufunc__ = None


FEATURE = Feature(
    name="numpy_scalar_on_left_keeps_gradient",
    question="Does a numpy number on the left of a Tensor (np.float64(0.01) * aux_loss) leave the gradient alone?",
    matters=(
        "Coefficients that come out of numpy (a schedule, a config, a mean) are numpy numbers. numpy then computes the "
        "product itself from the Tensor's values: the loss is right, but what that term would have contributed to the "
        "gradient is missing without a word, as an auxiliary loss or a regularizer that trains nothing. With the "
        "Tensor on the left, or a Python float, the gradient is right."
    ),
    harm=Harm.WRONG,
    symptom="an auxiliary loss has no effect on training; np.float32(c) * loss is a numpy.float32 and not a Tensor",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Turn the number into a Python one: float(coefficient) * loss.",
        cost="none",
    ),
    groups=("tape", "dtype"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/common/tensor.py: Tensor.__array__", "numpy: __array_priority__ and __array_ufunc__"),
    counterproof=counterproof,
)
