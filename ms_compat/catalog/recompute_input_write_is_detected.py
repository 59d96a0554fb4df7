"""A recomputed block whose input is overwritten before the backward is replayed on the new values."""

from __future__ import annotations

import functools
from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Write into the input of a recomputed block after its forward, and look at error and gradient."""
    from mindspore import ops

    from ms_compat.moved import no_grad
    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import POINT, SLOPE, block, curve, first_line, recompute, tensor, value_and_grad

    checkpoint = recompute("use_reentrant")
    cell = block(curve)

    def forward(x: Any) -> Any:
        activation = ops.mul(x, tensor(1.0))
        output = checkpoint(cell, activation, use_reentrant=False)
        with no_grad():
            activation.copy_(tensor(1.0))
        return output

    try:
        found = value(value_and_grad(forward)(tensor(POINT))[1])
    except RuntimeError as error:
        if not any(word in str(error) for word in ("modified", "written")):
            raise
        return Finding(
            True,
            "a write into the input of a recomputed block is an error in the backward",
            {"error": first_line(error), "right_gradient": round(SLOPE, 4)},
        )
    return Finding(
        abs(found - SLOPE) < 1e-3,
        f"a write into the input of a recomputed block raises nothing and gives the gradient {found:.4f} where "
        f"{SLOPE:.4f} is right",
        {"error": None, "gradient": found, "right_gradient": round(SLOPE, 4)},
    )


def counterproof() -> None:
    """Compare the versions of a block's inputs when it runs for the second time."""
    import mindspore

    native = mindspore.recompute

    @functools.wraps(native)
    def recompute(block: Any, *inputs: Any, **kwargs: Any) -> Any:
        seen: list[list[int]] = []

        def checked(*arguments: Any, **keywords: Any) -> Any:
            for argument in arguments:
                argument.wait_pipeline()
            seen.append([argument._version for argument in arguments])
            if seen[-1] != seen[0]:
                raise RuntimeError("an input of a recomputed block was written to")
            return block(*arguments, **keywords)

        return native(checked, *inputs, **kwargs)

    mindspore.recompute = recompute


FEATURE = Feature(
    name="recompute_input_write_is_detected",
    question="Is it an error when the input of a recomputed block is written to before the backward?",
    matters=(
        "A buffer that is used again, a cache, an activation that a later layer updates in place: the replay runs on "
        "what is there by then and its gradient belongs to another input. MindSpore checks the version of a tensor "
        "that an operator saved, but not that of the input that recompute keeps."
    ),
    harm=Harm.WRONG,
    symptom=(
        "gradients with recompute(use_reentrant=False) differ from those without; without recompute the same program "
        "raises: One of the Tensor needed for gradient computation has been modified by an inplace operation"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.recompute",
        action=(
            "Call ms_compat.recompute, which raises RecomputeError where an input was written to, and give the block "
            "a copy (ops.mul(x, 1)) where the write has to stay."
        ),
        cost="a version is read for each tensor that a block gets",
        works_on=">=2.8",
        missing="Use MindSpore >= 2.8: older releases have no non-reentrant recompute.",
    ),
    groups=("recompute", "inplace"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/common/recompute.py: recompute_without_reentrant",),
    counterproof=counterproof,
)
