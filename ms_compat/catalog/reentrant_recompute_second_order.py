"""The gradient of a gradient through a reentrant recompute is zero."""

from __future__ import annotations

import math

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Differentiate a recomputed block twice."""
    import mindspore

    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import POINT, block, curve, recording, reentrant, tensor

    checkpoint = reentrant()
    cell = block(curve)
    with recording(on=False):
        found = value(mindspore.grad(mindspore.grad(lambda x: checkpoint(cell, x)))(tensor(POINT)))
    right = round((2 + 4 * POINT**2) * math.exp(POINT**2), 4)
    return Finding(
        abs(found - right) < 1e-3,
        f"the second derivative through a reentrant recompute is {found:.4f} where {right:.4f} is right",
        {"second_derivative": found, "right": right},
    )


def counterproof() -> None:
    """Run the block once and keep what it saves."""
    from ms_compat.probing.tape import recompute_nothing

    recompute_nothing()


FEATURE = Feature(
    name="reentrant_recompute_second_order",
    question="Is the second derivative through a reentrant recompute right?",
    matters=(
        "Gradient penalties, Hessian products and force training of potentials differentiate twice. Through "
        "mindspore.recompute as it is by default they get zeros from a recomputed block, and the term that should "
        "regularize or fit does nothing. torch raises in this case."
    ),
    harm=Harm.WRONG,
    symptom="a gradient penalty has no effect, or second derivatives are 0, as soon as layers are recomputed",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.recompute",
        action="Call ms_compat.recompute, which runs the non-reentrant way and can be differentiated twice.",
        cost=(
            "one pack hook per saved tensor of the block; a replay that saves something else than its forward is an "
            "error"
        ),
        works_on=">=2.8",
        missing="Do not recompute what is differentiated twice, or use MindSpore >= 2.8.",
    ),
    groups=("recompute",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/common/recompute.py: _RecomputeCell.bprop",),
    counterproof=counterproof,
)
