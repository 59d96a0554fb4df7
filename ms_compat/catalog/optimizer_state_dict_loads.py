"""An optimizer's load_state_dict() refuses the moments that its own state_dict() names."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Take two steps with momentum, hand the state to a new optimizer, and take a third step with both."""
    from mindspore import nn

    from ms_compat.probing.workloads import parameter, tensor

    def optimizer(value: float) -> tuple[Any, Any]:
        weight = parameter(value)
        return weight, nn.Momentum([weight], 0.1, 0.9)

    weight, step = optimizer(1.0)
    for _ in range(2):
        step((tensor(0.5),))
    resumed_weight, resumed_step = optimizer(0.0)
    error_text = None
    try:
        resumed_step.load_state_dict(step.state_dict())
    except RuntimeError as error:
        if "Unexpected key" not in str(error):
            raise
        error_text = " ".join(str(error).split())
        resumed_step.load_state_dict(step.state_dict(), strict=False)
    before = float(weight.asnumpy()[0])
    step((tensor(0.5),))
    resumed_step((tensor(0.5),))
    right = before - float(weight.asnumpy()[0])
    found = before - float(resumed_weight.asnumpy()[0])
    refused = error_text is not None
    return Finding(
        not refused and abs(found - right) < 1e-5,
        f"its own state is {'refused' if refused else 'taken'}; the step after loading it"
        f"{' with strict=False' if refused else ''} is {found:.4f} (right: {right:.4f})",
        {"error": error_text, "step_after_loading": round(found, 4), "right_step": round(right, 4)},
    )


def counterproof() -> None:
    """Load by the names of the parameters."""
    import mindspore
    from mindspore import nn

    def load_state_dict(self: Any, state: dict[str, Any], strict: bool = True) -> None:
        copies = {name: value.clone() for name, value in state.items()}
        for name, copy in copies.items():
            copy.name = name
        mindspore.load_param_into_net(self, copies, strict_load=strict)

    nn.Optimizer.load_state_dict = load_state_dict


FEATURE = Feature(
    name="optimizer_state_dict_loads",
    question="Does an optimizer take back its own state_dict()?",
    matters=(
        "An optimizer is a Cell and its state_dict() has the moments, as torch's has. Its load_state_dict() copies "
        "them and then raises, since it looks for their names among the wrong ones. Code that is shared with torch "
        "cannot resume."
    ),
    harm=Harm.FAILS,
    symptom=(
        'RuntimeError: Error(s) in loading state_dict for Adam: Unexpected key(s) in state_dict: "moment1.w", '
        '"moment2.w"'
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Call load_state_dict(state, strict=False) and compare the names yourself: it does copy the moments. Or "
            "save with save_checkpoint(optimizer, path) and load with "
            "load_param_into_net(optimizer, load_checkpoint(path))."
        ),
        cost="a name that is missing is no error any more, unless missing_keys of the result is looked at",
    ),
    groups=("optimizer", "checkpoint_files"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/nn/cell.py: Cell._save_to_state_dict, Cell._load_from_state_dict",),
    counterproof=counterproof,
)
