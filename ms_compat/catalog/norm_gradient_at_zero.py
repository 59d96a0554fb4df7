"""The gradient of a norm where the vector is zero."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Differentiate the norm of a zero vector."""
    import contextlib
    import math

    from mindspore import ops

    from ms_compat.probing.workloads import tensor, value_and_grad

    with contextlib.suppress(SystemError):  # with numpy 2, what takes a number raises the first time
        ops.norm(tensor(3.0, 4.0))

    def norm(x: Any) -> Any:
        return ops.norm(x)

    found = value_and_grad(norm)(tensor(0.0, 0.0))[1].asnumpy().tolist()
    elsewhere = value_and_grad(norm)(tensor(3.0, 4.0))[1].asnumpy().tolist()
    if abs(elsewhere[0] - 0.6) > 1e-4:
        raise RuntimeError(f"the gradient at (3, 4) is {elsewhere}")
    finite = all(math.isfinite(value) for value in found)
    return Finding(
        finite,
        f"the gradient of the norm of a zero vector is {'finite' if finite else 'not finite'} (torch: 0)",
        {"is_finite": finite},
    )


def counterproof() -> None:
    """Add a small number under the root."""
    from mindspore import ops

    ops.norm = lambda x: ops.sqrt(ops.add(ops.mul(x, x).sum(), 1e-12))


FEATURE = Feature(
    name="norm_gradient_at_zero",
    question="Is the gradient of the norm of a zero vector finite?",
    matters=(
        "torch gives 0 there. A penalty on norms, a distance between equal points, or a vector that is masked to zero "
        "gives NaN in one row, and with it in every weight after the next optimizer step. ops.std of equal values "
        "does the same."
    ),
    harm=Harm.WRONG,
    symptom="NaN gradients from norm or std although every value in the forward is finite",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=("Add a small number under the root: mindspore.ops.sqrt((x * x).sum() + 1e-12)."),
        cost="the norm is larger by at most 1e-6",
    ),
    groups=("operators",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/math_func.py: norm",),
    counterproof=counterproof,
)
