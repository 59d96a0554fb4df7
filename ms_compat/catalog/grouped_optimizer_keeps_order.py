"""An optimizer with groups wants the gradients in the order of the groups."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Step with groups in another order than the network's, with gradients in the network's order."""
    from mindspore import nn

    from ms_compat.probing.workloads import parameter, tensor

    first, second = parameter(0.0, name="first"), parameter(0.0, name="second")
    step = nn.SGD([{"params": [second], "weight_decay": 0.0}, {"params": [first], "weight_decay": 0.0}], 1.0)
    step((tensor(1.0), tensor(2.0)))  # of first, of second
    moved = -float(first.asnumpy()[0]), -float(second.asnumpy()[0])
    return Finding(
        moved == (1.0, 2.0),
        f"gradients of 1.0 and 2.0 in the network's order move its two parameters by {moved[0]} and {moved[1]}",
        {"moved_first": moved[0], "moved_second": moved[1]},
    )


def counterproof() -> None:
    """Say by MindSpore's own order_params what the order is; here it is that of the names."""
    from mindspore import nn

    original = nn.SGD.__init__

    def init(self: Any, params: list[dict[str, Any]], *arguments: Any, **keywords: Any) -> None:
        ordered = sorted((one for group in params for one in group["params"]), key=lambda one: str(one.name))
        original(self, [*params, {"order_params": ordered}], *arguments, **keywords)

    nn.SGD.__init__ = init


FEATURE = Feature(
    name="grouped_optimizer_keeps_order",
    question="Does an optimizer with groups take the gradients in the network's order?",
    matters=(
        "A gradient is matched to its parameter by position alone, and groups change the positions: with the usual "
        "groups with and without weight decay, gradients computed for net.trainable_params() go to other parameters. "
        "Where the shapes are the same, as between the layers of a transformer, nothing is noticed."
    ),
    harm=Harm.WRONG,
    symptom="a loss that does not go down, or a shape error in the optimizer, once parameters are put into groups",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Compute the gradients for optimizer.parameters: value_and_grad(forward, None, optimizer.parameters). Or "
            "add the group {'order_params': net.trainable_params()}, which the optimizers of mindspore.nn know."
        ),
        cost="nothing",
    ),
    groups=("optimizer",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/nn/optim/optimizer.py: Optimizer._init_group_params",),
    counterproof=counterproof,
)
