"""A Cell that defines bprop cannot be called while a torch-style tape records."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Run a Cell with bprop forward and back on the tape."""
    from mindspore import nn, ops

    from ms_compat.probing.workloads import curve, differentiate_on_tape

    class Custom(nn.Cell):  # type: ignore[misc]
        def construct(self, x: Any) -> Any:
            return curve(x)

        def bprop(self, x: Any, output: Any, gradient: Any) -> Any:
            return (ops.mul(gradient, ops.mul(output, ops.add(x, x))),)

    return differentiate_on_tape(Custom())


def counterproof() -> None:
    """Let operators be differentiated one by one instead of through bprop."""
    from mindspore import nn

    nn.Cell.__call__ = lambda self, *args, **kwargs: self.construct(*args, **kwargs)


FEATURE = Feature(
    name="cell_bprop_under_run_backward",
    question="May a Cell with its own bprop be used under a torch-style tape (run_backward)?",
    matters=(
        "Layers with their own backward (fused kernels, straight-through estimators, reentrant recompute) work under "
        "value_and_grad, and fail in the forward as soon as a framework trains with Tensor.backward, as HyperParallel "
        "does."
    ),
    harm=Harm.FAILS,
    symptom="RuntimeError: The pointer[top_cell_] is null, when a Cell with bprop is called",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Write the layer as a subclass of ms_compat.Function (or mindspore.common._grad_function._Function) with "
            "static forward and backward: it works under run_backward and under value_and_grad on every release."
        ),
        cost="none",
    ),
    groups=("tape", "function"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/nn/cell.py: Cell._run_construct", "mindspore/common/_grad_function.py: _Function"),
    counterproof=counterproof,
)
