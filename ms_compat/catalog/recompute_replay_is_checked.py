"""A replay that saves other tensors than the forward did must be an error, not a wrong gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Recompute a block that saves one tensor more in its replay, and look at error and gradient."""
    from mindspore import ops

    from ms_compat.probing.workloads import POINT, SLOPE, block, curve, first_line, recompute, tensor, value_and_grad

    checkpoint = recompute("use_reentrant")
    runs: list[None] = []

    def gradient(body: Callable[[Any], Any]) -> float:
        cell = block(body)
        _, slope = value_and_grad(lambda x: checkpoint(cell, x, use_reentrant=False))(tensor(POINT))
        return float(slope.asnumpy()[0])

    def one_more_in_the_replay(x: Any) -> Any:
        runs.append(None)
        if len(runs) > 1:
            ops.sigmoid(x)
        return curve(x)

    control = gradient(curve)
    if abs(control - SLOPE) > 1e-3:
        raise RuntimeError(f"the replay that saves the same gives the gradient {control:.4f}, not {SLOPE:.4f}")
    try:
        found = gradient(one_more_in_the_replay)
    except RuntimeError as error:
        return Finding(
            True,
            "a replay that saves one tensor more than the forward raises",
            {"error": first_line(error), "right_gradient": round(SLOPE, 4)},
        )
    return Finding(
        False,
        f"a replay that saves one tensor more than the forward raises nothing and gives the gradient {found:.4f} "
        f"where {SLOPE:.4f} is right",
        {"error": None, "gradient": round(found, 4), "right_gradient": round(SLOPE, 4)},
    )


def counterproof() -> None:
    """Early stop skips the check: take it away, or bring it where it is not."""
    from ms_compat.probing.workloads import flip_early_stop

    flip_early_stop()


FEATURE = Feature(
    name="recompute_replay_is_checked",
    question="Is it an error when recompute's replay saves another number of tensors than the forward did?",
    matters=(
        "A block that takes another path in the replay (a cache that is filled by then, a counter, a random branch, "
        "requires_grad switched on in between) fills the backward with the wrong tensors. With early stop nobody "
        "counts them: training goes on with wrong gradients."
    ),
    harm=Harm.WRONG,
    symptom=(
        "loss curves with and without recompute differ; gradients of a checkpointed layer are off by a factor, no "
        "error is raised"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.recompute",
        action="Call ms_compat.recompute instead of mindspore.recompute; it compares every replay.",
        cost=(
            "a program stops that ran until now, even where the difference did no harm; the operators after a block's "
            "last saved tensor are replayed"
        ),
        works_on=">=2.8",
        missing="Use MindSpore >= 2.8: older releases have no non-reentrant recompute.",
    ),
    groups=("recompute", "saved_tensors"),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.9", True), Span(">=2.9,<2.11", False)),
    references=("mindspore/common/recompute.py: _RecomputationHook.pack",),
    counterproof=counterproof,
)
