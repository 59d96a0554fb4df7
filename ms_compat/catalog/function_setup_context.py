"""A custom function whose forward takes no context and whose setup_context fills it in."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_API = "mindspore.common._grad_function._Function.setup_context"


def inspect() -> Finding:
    """Look for the method."""
    from mindspore.common._grad_function import _Function

    if not hasattr(_Function, "setup_context"):
        raise ApiMissing(_API)
    return Finding(True, "_Function has setup_context")


def probe() -> Finding:
    """Differentiate a function in that style, with its option given by keyword."""
    from mindspore import ops
    from mindspore.common._grad_function import _Function

    from ms_compat.probing.workloads import backward, leaf, recording, tensor

    inspect()

    class Scale(_Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any, factor: float = 2.0) -> Any:
            return ops.mul(x, tensor(factor))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - MindSpore's
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return ops.mul(gradient, tensor(ctx.factor)), None

    with recording():
        x = leaf(0.5)
        try:
            backward(Scale.apply(x, factor=3.0))
        except TypeError as error:
            return Finding(False, f"apply does not understand it: {error}", {"gradient": None})
        found = float(x._grad.asnumpy()[0])
    return Finding(
        abs(found - 3.0) < 1e-6,
        f"a function with setup_context gives the gradient {found:.4f} (right: 3.0000)",
        {"gradient": round(found, 4)},
    )


def counterproof() -> None:
    """Take away what looks for it, so that forward is called in the old style."""
    from mindspore.common._grad_function import _Function

    def apply(cls: Any, *inputs: Any, **keywords: Any) -> Any:
        cls._has_setup_context = False
        return super(_Function, cls).apply(*inputs, **keywords)

    _Function.apply = classmethod(apply)


FEATURE = Feature(
    name="function_setup_context",
    question="Does a custom function understand a forward without ctx and a setup_context?",
    matters=(
        "torch's newer style of custom functions, and the only one whose apply takes keyword arguments. Code ported "
        "from torch in that style cannot run below 2.10: forward is called with a context in the place of its first "
        "input."
    ),
    harm=Harm.FAILS,
    symptom=(
        "TypeError: forward() takes from 1 to 2 positional arguments but 3 were given, or Failed calling Mul with "
        '"Mul()(input=<class ...>, other=Tensor)", in a custom function; apply() takes no keyword arguments'
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Write forward(ctx, ...) and fill the context in there, which every release understands; pass the inputs "
            "of apply by position."
        ),
        cost="none",
        remove_when=">=2.10",
    ),
    groups=("function",),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=("mindspore/common/_grad_function.py: _Function.apply",),
    counterproof=counterproof,
    inspect=inspect,
)
