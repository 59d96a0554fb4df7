"""A checkpoint of an optimizer of mindspore.experimental.optim does not have its learning rate."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Let a schedule lower the learning rate, save the optimizer and load it into a new one."""
    import mindspore

    from ms_compat.probing.names import api, weight_file
    from ms_compat.probing.workloads import parameter

    optim = api("mindspore.experimental.optim")

    def optimizer() -> tuple[Any, Any]:
        made = optim.SGD([parameter(1.0)], lr=0.5)
        return made, optim.lr_scheduler.StepLR(made, step_size=1, gamma=0.5)

    saved, schedule = optimizer()
    schedule.step()
    right = float(saved.param_groups[0]["lr"])
    loaded, _ = optimizer()
    with weight_file("optimizer.ckpt") as path:
        mindspore.save_checkpoint(saved, path)
        mindspore.load_param_into_net(loaded, mindspore.load_checkpoint(path))
    found = float(loaded.param_groups[0]["lr"])
    return Finding(
        found == right,
        f"a learning rate that a schedule has brought down to {right} is {found} after a resume",
        {"saved_rate": right, "loaded_rate": found, "scheduler_has_state_dict": hasattr(schedule, "state_dict")},
    )


def counterproof() -> None:
    """Make the learning rate a parameter of the optimizer, so that it is saved and loaded."""
    from mindspore.experimental import optim

    original = optim.SGD.__init__

    def init(self: Any, *arguments: Any, **keywords: Any) -> None:
        original(self, *arguments, **keywords)
        self.saved_rate = self.param_groups[0]["lr"]

    optim.SGD.__init__ = init


FEATURE = Feature(
    name="learning_rate_survives_checkpoint",
    question="Does a saved optimizer of mindspore.experimental.optim keep the learning rate its schedule gave it?",
    matters=(
        "The rate lives in param_groups, which save_checkpoint does not write, and the schedulers have no state_dict() "
        "as torch's have. A run that is resumed late in its schedule starts again with the highest learning rate, and "
        "nothing says so: the weights and moments are there."
    ),
    harm=Harm.WRONG,
    symptom="after a resume the learning rate starts from its initial value and the loss jumps up",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Save how often scheduler.step() was called, e.g. save_checkpoint(net, path, append_dict={'steps': n}), "
            "and after a resume call it as often on the new scheduler before the first training step."
        ),
        cost="a loop of scheduler steps at the start of a resumed run",
    ),
    groups=("optimizer", "checkpoint_files"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "mindspore/experimental/optim/optimizer.py: Optimizer.add_param_group",
        "mindspore/experimental/optim/lr_scheduler.py",
    ),
    counterproof=counterproof,
)
