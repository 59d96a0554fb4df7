"""grad_position counts keyword arguments in the order of the call, not of the signature."""

from __future__ import annotations

import inspect as signatures
from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Differentiate with respect to the first argument, with both given by keyword in both orders."""
    import mindspore
    from mindspore import ops

    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import recording, tensor

    def product(x: Any, y: Any) -> Any:
        return ops.mul(x, y)

    with recording(on=False):
        in_order = value(mindspore.grad(product, 0)(x=tensor(2.0), y=tensor(3.0)))
        turned = value(mindspore.grad(product, 0)(y=tensor(3.0), x=tensor(2.0)))
    if in_order != 3.0:
        raise RuntimeError(f"even in the order of the signature, the gradient of x is {in_order}, not 3.0")
    return Finding(
        turned == in_order,
        f"the gradient of x * y with respect to argument 0 at (2, 3) is {in_order} when called with (x=, y=) and "
        f"{turned} with (y=, x=)",
        {"x_first": in_order, "y_first": turned},
    )


def counterproof() -> None:
    """Put the arguments in the order of the signature."""
    import mindspore

    native = mindspore.grad

    def grad(function: Any, *options: Any, **keywords: Any) -> Any:
        differentiate = native(function, *options, **keywords)

        def run(*inputs: Any, **named: Any) -> Any:
            return differentiate(*signatures.signature(function).bind(*inputs, **named).args)

        return run

    mindspore.grad = grad


FEATURE = Feature(
    name="grad_position_follows_signature",
    question="Does grad_position count arguments as the function's signature does when they are given by keyword?",
    matters=(
        "Python does not care about the order of keyword arguments, the gradient does: grad(f, 0)(y=..., x=...) is the "
        "derivative with respect to y. When shapes agree, as those of two inputs of a layer do, nobody notices."
    ),
    harm=Harm.WRONG,
    symptom="mindspore.grad or value_and_grad returns the gradient of another argument when it is called by keyword",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Give the arguments that are differentiated by position, before all keywords.",
        cost="none",
    ),
    groups=("tape",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/ops/composite/base.py: _Grad",),
    counterproof=counterproof,
)
