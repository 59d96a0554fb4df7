"""_c_expression.run_backward: the backward of a torch-style tape."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Record a curve outside value_and_grad and run its tape back."""
    from ms_compat.probing.workloads import curve, differentiate_on_tape

    return differentiate_on_tape(curve)


def counterproof() -> None:
    """Refuse to run a tape back, as it is without recording."""
    import importlib
    from typing import Any

    compiled: Any = importlib.import_module("mindspore._c_expression")

    def run_backward(*_: Any, **__: Any) -> None:
        raise RuntimeError("The output tensor you provided doesn't requires grad and not have a grad_fn.")

    compiled.run_backward = run_backward


FEATURE = Feature(
    name="run_backward_differentiates",
    question="Does run_backward differentiate what was recorded outside of value_and_grad?",
    matters=(
        "HyperParallel's Tensor.backward() is this function: with it a program runs forwards and backwards where it "
        "likes, as in torch. Everything else in the group 'tape' builds on it."
    ),
    harm=Harm.FAILS,
    symptom="RuntimeError: The output tensor you provided doesn't requires grad and not have a grad_fn",
    probe=probe,
    remedy=Remedy(
        path=Path.ERROR,
        action="Compute gradients with mindspore.value_and_grad, or use MindSpore >= 2.7.2.",
        cost="the forward has to be one function",
    ),
    groups=("tape",),
    spans=(Span(">=2.7.2,<2.11", True),),
    references=(
        "mindspore/ccsrc/pynative/backward/grad.cc: RunBackward",
        "hyper_parallel/platform/mindspore/autograd_compat.py",
    ),
    counterproof=counterproof,
)
