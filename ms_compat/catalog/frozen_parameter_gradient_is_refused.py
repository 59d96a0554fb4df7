"""The gradient for a Parameter with requires_grad=False comes out as zeros."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Ask value_and_grad for the gradient of a frozen Parameter."""
    import math

    import mindspore
    from mindspore import ops

    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import POINT, first_line, parameter, tensor

    weight = parameter(POINT, requires_grad=False)

    def forward(x: Any) -> Any:
        return ops.exp(ops.mul(weight, x))

    right = round(POINT * math.exp(POINT * POINT), 4)
    try:
        found = value(mindspore.value_and_grad(forward, None, [weight])(tensor(POINT))[1][0])
    except (ValueError, RuntimeError) as error:
        if "require" not in str(error):
            raise
        return Finding(True, f"it is refused: {first_line(error)}", {"error": first_line(error), "gradient": None})
    return Finding(
        abs(found - right) < 1e-3,
        f"the gradient of a frozen Parameter is given as {found:.4f} where {right:.4f} is right",
        {"error": None, "gradient": found, "right_gradient": right},
    )


def counterproof() -> None:
    """Refuse Parameters that do not require a gradient."""
    import mindspore

    native = mindspore.value_and_grad

    def value_and_grad(forward: Any, position: Any = 0, weights: Any = None) -> Any:
        differentiate = native(forward, position, weights)

        def run(*inputs: Any) -> Any:
            if any(not weight.requires_grad for weight in weights or ()):
                raise ValueError("a gradient is asked for a Parameter that does not require one")
            return differentiate(*inputs)

        return run

    mindspore.value_and_grad = value_and_grad


FEATURE = Feature(
    name="frozen_parameter_gradient_is_refused",
    question="Is a gradient that is asked for a Parameter with requires_grad=False an error rather than zeros?",
    matters=(
        "Layers are frozen and thawed for fine-tuning while the list of weights was made once. A zero cannot be told "
        "from a real gradient: the optimizer goes on with weight decay and momentum on a frozen weight, gradient norms "
        "are off, and a weight that should be trained but was frozen by mistake never learns. torch raises."
    ),
    harm=Harm.WRONG,
    symptom="the gradient of a parameter is exactly 0; frozen weights still drift through weight decay; nothing raises",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Build the list of weights with net.trainable_params(), make value_and_grad and the optimizer again after "
            "every change of requires_grad, and check all(w.requires_grad for w in weights) before the first step."
        ),
        cost="none",
    ),
    groups=("tape", "parameters"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/ops/function/grad/grad_func.py: value_and_grad", "mindspore/ops/composite/base.py: _Grad"),
    counterproof=counterproof,
)
