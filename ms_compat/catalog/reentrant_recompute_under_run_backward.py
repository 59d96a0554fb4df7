"""Reentrant recompute under the torch-style tape, which Tensor.backward() of HyperParallel calls."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Run the tape back through a block that is recomputed reentrantly."""
    from ms_compat.probing.workloads import block, curve, differentiate_on_tape, reentrant

    checkpoint = reentrant()
    cell = block(curve)
    return differentiate_on_tape(lambda x: checkpoint(cell, x))


def counterproof() -> None:
    """Write reentrant recompute as a custom function that runs the tape again; its bprop needs a graph instead."""
    import importlib

    from mindspore import ops

    from ms_compat.moved import compiled
    from ms_compat.probing.workloads import recompute_module, recording

    run_backward = compiled("run_backward")
    function = importlib.import_module("mindspore.common._grad_function")._Function

    class TapedCell:
        def __init__(self, block: Any) -> None:
            class Taped(function):  # type: ignore[misc, valid-type]
                @staticmethod
                def forward(ctx: Any, x: Any) -> Any:
                    ctx.save_for_backward(x)
                    return block(ops.stop_gradient(x))

                @staticmethod
                def backward(ctx: Any, gradient: Any) -> Any:
                    x = ops.stop_gradient(ctx.saved_tensors[0])
                    x.requires_grad_()
                    with recording():
                        run_backward((block(x),), (gradient,), False, False, ())
                    return x._grad

            self._function = Taped

        def __call__(self, x: Any) -> Any:
            return self._function.apply(x)

    recompute_module()._RecomputeCell = TapedCell


FEATURE = Feature(
    name="reentrant_recompute_under_run_backward",
    question="Does reentrant recompute work under the torch-style tape?",
    matters=(
        "Cell.recompute() and recompute() are reentrant unless told otherwise. Their replay asks for a graph that only "
        "value_and_grad builds, so a model that is checkpointed this way cannot be trained with loss.backward()."
    ),
    harm=Harm.FAILS,
    symptom="RuntimeError: The pointer[top_cell_] is null.",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.recompute",
        action=(
            "Call ms_compat.recompute, which takes the non-reentrant way under the tape and refuses, with the reason, "
            "where a release has none."
        ),
        cost="what non-reentrant recompute costs: one pack hook per saved tensor of the block, the pipeline off inside",
        works_on=">=2.8",
        missing="Use MindSpore >= 2.8: older releases have no non-reentrant recompute.",
    ),
    groups=("recompute", "tape"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/common/recompute.py: _RecomputeCell.bprop",),
    counterproof=counterproof,
)
