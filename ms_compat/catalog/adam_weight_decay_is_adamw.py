"""nn.AdamWeightDecay leaves out Adam's bias correction."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Compare a first step with that of AdamW with the same settings."""
    from mindspore import nn
    from mindspore.experimental import optim

    from ms_compat.probing.names import step_of

    found = step_of(
        lambda weights: nn.AdamWeightDecay(weights, 0.1, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0)
    )
    right = step_of(lambda weights: optim.AdamW(weights, 0.1, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0))
    return Finding(
        abs(found - right) < 1e-3,
        f"a first step with learning rate 0.1 moves a weight by {found:.4f}, AdamW's by {right:.4f}",
        {"moved": round(found, 4), "adamw_moved": round(right, 4)},
    )


def counterproof() -> None:
    """Put AdamW in its place."""
    from mindspore import nn
    from mindspore.experimental import optim

    def corrected(weights: Any, rate: float, beta1: float, beta2: float, eps: float, weight_decay: float) -> Any:
        return optim.AdamW(weights, rate, betas=(beta1, beta2), eps=eps, weight_decay=weight_decay)

    nn.AdamWeightDecay = corrected


FEATURE = Feature(
    name="adam_weight_decay_is_adamw",
    question="Does nn.AdamWeightDecay take the steps of AdamW?",
    matters=(
        "nn.AdamWeightDecay is what MindSpore's models take for AdamW, and MindFormers offers it as an optimizer. It "
        "does not divide the moments by 1 - beta ** step: with the usual betas its first hundred steps are three to "
        "seven times as long as AdamW's, the thousandth still 1.3 times. A recipe that was ported with its learning "
        "rate and warm-up trains differently."
    ),
    harm=Harm.WRONG,
    symptom="the loss differs from torch's AdamW from the first steps on, spikes or diverges without a longer warm-up",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Use mindspore.experimental.optim.AdamW, or on Ascend mint.optim.AdamW; both correct the bias. Where a "
            "checkpoint has to go on, keep nn.AdamWeightDecay and its own learning rate and warm-up."
        ),
        cost="the state has other names in a checkpoint; steps are not those of the earlier runs",
    ),
    groups=("optimizer",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "mindspore/nn/optim/adam.py: _update_run_op",
        "mindspore/experimental/optim/adamw.py",
        "mindformers/core/optim/build_optim.py",
    ),
    counterproof=counterproof,
)
