"""Optimizers of mindspore.nn leave parameters out of weight decay by what their names contain."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

#: The last two are left out: LayerNorm's names in MindSpore are gamma and beta, and others may contain them.
_NAMES = ("weight", "bias", "gamma", "beta_projection.weight")


def probe() -> Finding:
    """Take a step with gradients of zero, which weight decay alone makes, on parameters of different names."""
    from mindspore import nn

    from ms_compat.probing.workloads import parameter, tensor

    weights = [parameter(1.0, name=name) for name in _NAMES]
    nn.AdamWeightDecay(weights, 0.1, weight_decay=0.5)(tuple(tensor(0.0) for _ in _NAMES))
    moved = {name: 1.0 - float(weight.asnumpy()[0]) for name, weight in zip(_NAMES, weights, strict=True)}
    left = [name for name, distance in moved.items() if abs(distance - 0.05) > 1e-3]
    return Finding(
        not left,
        f"of {len(_NAMES)} parameters {len(left)} get no weight decay" + (f" ({', '.join(left)})" if left else ""),
        {f"moved_{name}": round(distance, 4) for name, distance in moved.items()},
    )


def counterproof() -> None:
    """Hand the parameters over in a group, which has no such rule."""
    from mindspore import nn

    original = nn.AdamWeightDecay.__init__

    def init(self: Any, params: Any, *arguments: Any, weight_decay: float = 0.0, **keywords: Any) -> None:
        original(self, [{"params": params, "weight_decay": weight_decay}], *arguments, **keywords)

    nn.AdamWeightDecay.__init__ = init


FEATURE = Feature(
    name="weight_decay_reaches_every_parameter",
    question="Does an optimizer of mindspore.nn apply weight_decay= to every parameter it is given?",
    matters=(
        "A list of parameters is filtered by name: what contains 'beta' or 'gamma' gets no decay, biases do. Meant for "
        "LayerNorm, it also hits a layer that is called beta_projection or gamma_net, and misses a norm whose "
        "parameter is called weight, as in torch and MindFormers. Renaming a layer changes the training."
    ),
    harm=Harm.WRONG,
    symptom="weights of a layer with 'beta' or 'gamma' in its name do not decay; results change after renaming a layer",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Hand over groups: [{'params': decayed, 'weight_decay': 0.1}, {'params': others, 'weight_decay': 0.0}]. "
            "Groups are not filtered, and neither are the optimizers of mindspore.experimental.optim."
        ),
        cost="the state of the optimizer lists the parameters in the order of the groups",
    ),
    groups=("optimizer",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/nn/optim/optimizer.py: Optimizer._init_opt_attrs",),
    counterproof=counterproof,
)
