"""Reentrant recompute differentiates with respect to the arguments of a block only."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Recompute a block that uses its argument and a tensor of the enclosing function, and look at the gradient."""
    import math

    from mindspore import ops

    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import POINT, block, reentrant, tensor, value_and_grad

    checkpoint = reentrant()

    def forward(x: Any) -> Any:
        factor = ops.exp(x)
        return checkpoint(block(lambda argument: ops.mul(argument, factor)), x)

    found = value(value_and_grad(forward)(tensor(POINT))[1])
    right = round((1 + POINT) * math.exp(POINT), 4)
    return Finding(
        abs(found - right) < 1e-3,
        f"a block that also uses a tensor it was not given gets the gradient {found:.4f} where {right:.4f} is right",
        {"gradient": found, "right_gradient": right},
    )


def counterproof() -> None:
    """Run the block once and keep what it saves."""
    from ms_compat.probing.tape import recompute_nothing

    recompute_nothing()


FEATURE = Feature(
    name="reentrant_recompute_finds_captured_tensors",
    question="Does reentrant recompute differentiate with respect to tensors that a block takes from around it?",
    matters=(
        "The output of a shared layer, a learned bias, a layer that is not registered on the block: what a recomputed "
        "block reads from an attribute, a closure or a dict instead of from its arguments gets a gradient of zero from "
        "it, and whatever lies behind is not trained by it. Reentrant is MindSpore's default."
    ),
    harm=Harm.WRONG,
    symptom=(
        "gradients are too small or zero with mindspore.recompute and right without it; a layer before a recomputed "
        "block does not learn; no error is raised"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.recompute",
        action=(
            "Call ms_compat.recompute, which runs the non-reentrant way, or hand every tensor that needs a gradient "
            "to the block as an argument of its own (not in a dict)."
        ),
        cost=(
            "one pack hook per saved tensor of the block; a replay that saves something else than its forward is an "
            "error"
        ),
        works_on=">=2.8",
        missing=(
            "Hand every tensor that needs a gradient to the block as an argument of its own (not in a dict), or use "
            "MindSpore >= 2.8: older releases have no non-reentrant recompute."
        ),
    ),
    groups=("recompute",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/common/recompute.py: _RecomputeCell.bprop",),
    counterproof=counterproof,
)
