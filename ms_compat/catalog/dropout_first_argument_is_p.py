"""The first argument of nn.Dropout is the share that is kept."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Drop with nn.Dropout(0.1) in training mode and count."""
    import mindspore
    from mindspore import nn, ops

    layer = nn.Dropout(0.1)
    layer.set_train()
    state = mindspore.get_rng_state()
    dropped = float((layer(ops.ones((2000,), mindspore.float32)).asnumpy() == 0).mean())
    mindspore.set_rng_state(state)
    return Finding(
        dropped < 0.5,  # 0.1 or 0.9, from 2000 draws
        f"nn.Dropout(0.1) drops about {round(dropped * 10) * 10} of 100 values (in torch 10)",
        {"about_percent_dropped": round(dropped * 10) * 10, "torch_percent": 10},
    )


def counterproof() -> None:
    """Let the first argument be p."""
    from mindspore import nn

    original = nn.Dropout.__init__

    def init(self: Any, p: float = 0.5) -> None:
        original(self, p=p)

    nn.Dropout.__init__ = init


FEATURE = Feature(
    name="dropout_first_argument_is_p",
    question="Is the first argument of nn.Dropout the share that is dropped?",
    matters=(
        "nn.Dropout still takes keep_prob first: nn.Dropout(0.1), as written for torch, drops nine of ten values. "
        "Training goes on, badly. mint.nn.Dropout takes p first. There is a deprecation line in the log and no error."
    ),
    harm=Harm.WRONG,
    symptom="a model with nn.Dropout(0.1) hardly learns; the log says that the parameter keep_prob is deprecated",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Write nn.Dropout(p=0.1) with the keyword.",
        cost="nothing",
    ),
    groups=("parameters",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/nn/layer/basic.py: Dropout",),
    counterproof=counterproof,
)
