"""A start gradient of another shape than the output is broadcast by run_backward."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Start a backward from an output of two elements with a gradient of one."""
    from mindspore import ops

    from ms_compat.probing.workloads import backward, first_line, leaf, recording, tensor

    with recording():
        x = leaf(0.5, 0.5)
        output = ops.exp(x)
        try:
            backward(output, start=tensor(3.0))
        except (RuntimeError, ValueError) as error:
            if "shape" not in str(error):
                raise
            return Finding(
                True,
                "a start gradient of shape (1,) for an output of shape (2,) raises",
                {"error": first_line(error), "gradient_shape": None},
            )
        shape = str(tuple(x._grad.shape))
    return Finding(
        False,
        f"a start gradient of shape (1,) for an output of shape (2,) raises nothing and gives a gradient of shape "
        f"{shape}",
        {"error": None, "gradient_shape": shape},
    )


FEATURE = Feature(
    name="start_gradient_shape_is_checked",
    question="Does run_backward refuse a start gradient whose shape is not the output's?",
    matters=(
        "A pipeline stage starts its backward with what the next stage sent. A gradient for the wrong micro batch or "
        "with a dimension of 1 is broadcast without a word, and every gradient of the stage is wrong."
    ),
    harm=Harm.WRONG,
    symptom=(
        "wrong gradients in a pipeline stage although shapes differ between stages; torch raises: Mismatch in shape: "
        "grad_output[0] has a shape of"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Compare gradient.shape with output.shape before each run_backward and raise where they differ.",
        cost="one comparison of two tuples per backward",
    ),
    groups=("tape",),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.9", True), Span(">=2.9,<2.11", False)),
    references=("mindspore._c_expression.run_backward", "hyper_parallel/platform/mindspore/autograd_compat.py"),
)
