"""mint.optim.Adam adds its step with an in-place operation that on CPU does not write."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Take one step with a gradient that is not zero and see how far the weight moves."""
    from ms_compat.probing.names import ADAM_STEP, mint_optimizer, step_of
    from ms_compat.probing.workloads import first_line, settle

    try:
        moved = step_of(mint_optimizer("Adam"))
    except RuntimeError as error:
        if "unregistered" not in str(error):
            raise
        settle("unregistered")
        return Finding(False, f"its step raises: {first_line(error)}", {"error": first_line(error), "moved": None})
    return Finding(
        abs(moved - ADAM_STEP) < 1e-3,
        f"a step with learning rate 0.1 moves a weight by {moved:.4f} (right: {ADAM_STEP:.4f})",
        {"error": None, "moved": round(moved, 4), "right_move": ADAM_STEP},
    )


FEATURE = Feature(
    name="mint_adam_updates_parameters",
    question="Does a step of mint.optim.Adam change the parameters?",
    matters=(
        "On CPU 2.10.0 runs the whole step and changes nothing: its last line adds in place, and the CPU's in-place "
        "add hands back a new tensor. The loss of a small test on a laptop or in CI stays flat with no error. It was "
        "right on 2.8 and 2.9. The optimizer is documented for Ascend only; nothing says so when it is called."
    ),
    harm=Harm.WRONG,
    symptom=(
        "loss does not go down with mint.optim.Adam on CPU, weights stay the same after optimizer(grads); on 2.7 "
        "RuntimeError: The kernel Muls unregistered"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="On CPU use mindspore.experimental.optim.Adam or mindspore.nn.Adam; both take the right step.",
        cost="another class, whose state has other names in a checkpoint",
    ),
    groups=("optimizer", "inplace"),
    spans=(
        Span(">=2.7.2,<2.8", False, device="CPU"),
        Span(">=2.8,<2.10", True, device="CPU"),
        Span(">=2.10,<2.11", False, device="CPU"),
    ),
    references=("mindspore/mint/optim/adam.py: _run_optim_adamw_opt",),
)
