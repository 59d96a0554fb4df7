"""The gradient of a power with respect to its exponent, where the base is zero."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Differentiate pow at base 0 and exponent 2."""
    import math

    import mindspore
    from mindspore import ops

    from ms_compat.probing.workloads import tensor

    gradients = mindspore.grad(ops.pow, (0, 1))(tensor(0.0), tensor(2.0))
    of_base, of_exponent = (float(gradient.asnumpy()[0]) for gradient in gradients)
    holds = of_base == 0.0 and of_exponent == 0.0
    return Finding(
        holds,
        f"the gradient of 0 to the power of 2 with respect to the exponent is "
        f"{'NaN' if math.isnan(of_exponent) else format(of_exponent, 'g')} (right: 0)",
        {"of_base": of_base, "of_exponent": None if math.isnan(of_exponent) else of_exponent},
    )


FEATURE = Feature(
    name="pow_gradient_at_zero",
    question="Is the gradient of a power at base 0 right?",
    matters=(
        "A learned exponent (generalised-mean pooling, gamma correction) meets a base of zero as soon as an "
        "activation is zero. 2.7.2 gives NaN for it, which spreads to every weight. Measured on CPU."
    ),
    harm=Harm.WRONG,
    symptom="NaN gradients from pow where the base is 0, on 2.7.2",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=("Keep the base away from zero: mindspore.ops.pow(mindspore.ops.clamp(x, min=1e-6), exponent)."),
        cost="a base below 1e-6 has no gradient",
        remove_when=">=2.8",
    ),
    groups=("operators",),
    spans=(
        Span(">=2.7.2,<2.8", False, device="CPU"),
        Span(">=2.8,<2.11", True, device="CPU"),
    ),
    references=("mindspore/ops/function/math_func.py: pow",),
)
