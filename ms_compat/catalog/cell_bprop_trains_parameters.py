"""Parameters of a Cell that defines bprop get a gradient of zero."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Ask for the gradient of a Parameter that a Cell with bprop uses."""
    from mindspore import nn, ops, value_and_grad

    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import first_line, parameter, recording, tensor

    class Scale(nn.Cell):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = parameter(0.5)

        def construct(self, x: Any) -> Any:
            return ops.mul(self.weight, x)

        def bprop(self, x: Any, output: Any, gradient: Any) -> Any:
            del x, output
            return (ops.mul(gradient, self.weight),)

    cell = Scale()
    with recording(on=False) as engine:
        try:
            found = value(value_and_grad(cell, None, [cell.weight])(tensor(3.0))[1][0])
        except RuntimeError as error:
            engine.clear_res()
            if "bprop" not in str(error):
                raise
            return Finding(True, f"it is refused: {first_line(error)}", {"error": first_line(error), "gradient": None})
    return Finding(
        found == 3.0,
        f"the Parameter of a Cell with bprop gets the gradient {found:.1f} where 3.0 is right, and no error",
        {"error": None, "gradient": found, "right_gradient": 3.0},
    )


def counterproof() -> None:
    """Refuse Cells with bprop that have Parameters."""
    from mindspore import nn

    native = nn.Cell.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.has_bprop and self.trainable_params():
            raise RuntimeError("a Cell with bprop has Parameters, which would get no gradient")
        return native(self, *args, **kwargs)

    nn.Cell.__call__ = call


FEATURE = Feature(
    name="cell_bprop_trains_parameters",
    question="Are Parameters of a Cell with its own bprop trained, or is it an error?",
    matters=(
        "A custom layer that writes its own backward for speed or memory, with its weights as Parameters of the Cell, "
        "trains its inputs only: the weights get zeros, keep their initial values up to weight decay, and the loss "
        "still falls since the rest of the network learns."
    ),
    harm=Harm.WRONG,
    symptom="the gradient of a parameter in a Cell with bprop is exactly 0; a custom layer does not learn",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Give the weight to an inner Cell as an argument, with bprop(self, x, weight, output, gradient) returning "
            "a gradient for each, or write the layer as a _Function with the weight among its inputs."
        ),
        cost="none",
    ),
    groups=("function", "parameters"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/nn/cell.py: Cell.bprop",),
    counterproof=counterproof,
)
