"""mint.optim.SGD adds its step with an in-place operation that on CPU does not write."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Take one step with a gradient that is not zero and see how far the weight moves."""
    from ms_compat.probing.names import mint_optimizer, step_of

    moved = step_of(mint_optimizer("SGD"))
    return Finding(
        abs(moved - 0.05) < 1e-4,
        f"with learning rate 0.1 a gradient of 0.5 moves a weight by {moved:.4f} (right: 0.0500)",
        {"moved": round(moved, 4), "right_move": 0.05},
    )


def counterproof() -> None:
    """Let the in-place add write."""
    from ms_compat.probing.names import added_in_place

    added_in_place()


FEATURE = Feature(
    name="mint_sgd_updates_parameters",
    question="Does a step of mint.optim.SGD change the parameters?",
    matters=(
        "On CPU a whole training runs through and the model is the one it began with: the step adds in place, and the "
        "CPU's in-place add hands back a new tensor. Whoever tries a training loop on CPU, or runs it in CI, sees a "
        "flat loss and no error. The optimizer is documented for Ascend only; nothing says so when it is called."
    ),
    harm=Harm.WRONG,
    symptom="loss does not go down with mint.optim.SGD on CPU, weights stay the same after optimizer(grads)",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="On CPU use mindspore.experimental.optim.SGD or mindspore.nn.SGD; both take the right step.",
        cost="another class, whose state has other names in a checkpoint",
    ),
    groups=("optimizer", "inplace"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/mint/optim/sgd.py: _run_optim_sgd_opt",),
    counterproof=counterproof,
)
