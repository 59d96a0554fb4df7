"""The gradient of a cumulative product with a zero in it."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Differentiate the sum of the cumulative products of 0 and 2, and of 1 and 2."""
    import math

    import mindspore
    from mindspore import ops

    from ms_compat.probing.workloads import tensor

    def total(x: Any) -> Any:
        return ops.cumprod(x, 0).sum()

    found = mindspore.grad(total)(tensor(0.0, 2.0)).asnumpy().tolist()
    elsewhere = mindspore.grad(total)(tensor(1.0, 2.0)).asnumpy().tolist()
    if elsewhere != [3.0, 1.0]:
        raise RuntimeError(f"the gradient at (1, 2) is {elsewhere} instead of [3.0, 1.0]")
    holds = found == [3.0, 0.0]
    first = "NaN" if math.isnan(found[0]) else format(found[0], "g")
    return Finding(
        holds,
        f"the gradient with respect to a factor of 0 is {first} (right: 3)",
        {"is_right": holds, "is_nan": math.isnan(found[0])},
    )


def counterproof() -> None:
    """Multiply in a loop."""
    from mindspore import ops

    def cumprod(x: Any, axis: int) -> Any:  # noqa: ARG001 - for one dimension
        parts = [x[0:1]]
        for place in range(1, x.shape[0]):
            parts.append(ops.mul(parts[-1], x[place : place + 1]))
        return ops.cat(tuple(parts))

    ops.cumprod = cumprod


FEATURE = Feature(
    name="cumprod_gradient_at_zero",
    question="Is the gradient of a cumulative product right where a factor is 0?",
    matters=(
        "Cumulative products of probabilities that may be 0 (survival, transmittance in rendering, halting) are "
        "differentiated by dividing by the factor, which gives NaN; torch treats zeros on their own. ops.prod is "
        "right."
    ),
    harm=Harm.WRONG,
    symptom="NaN gradients from cumprod where a factor is 0",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=("Keep the factors away from zero, mindspore.ops.clamp(x, min=1e-6), or multiply in a loop."),
        cost="factors below 1e-6 have no gradient",
    ),
    groups=("operators",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/math_func.py: cumprod",),
    counterproof=counterproof,
)
