"""A new Cell is in evaluation mode until set_train() is called."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Run a Dropout as it comes, and after set_train()."""
    import mindspore
    from mindspore import nn, ops

    state = mindspore.get_rng_state()
    ones = ops.ones((1000,), mindspore.float32)
    dropout = nn.Dropout(p=0.5)
    fresh = float((dropout(ones).asnumpy() == 0).mean())
    dropout.set_train()
    trained = float((dropout(ones).asnumpy() == 0).mean())
    mindspore.set_rng_state(state)
    if trained == 0.0:
        raise RuntimeError("nn.Dropout(p=0.5) drops nothing after set_train()")
    return Finding(
        fresh > 0.0,
        f"a new nn.Dropout(p=0.5) drops {'some' if fresh else 'none'} of 1000 values, after set_train() some",
        {"new_drops": fresh > 0.0, "drops_after_set_train": True, "training": bool(nn.Cell().training)},
    )


def counterproof() -> None:
    """Start in training mode."""
    from mindspore import nn

    original = nn.Cell.__init__

    def init(self: Any, *arguments: Any, **keywords: Any) -> None:
        original(self, *arguments, **keywords)
        self.set_train()

    nn.Cell.__init__ = init


FEATURE = Feature(
    name="cell_starts_in_training_mode",
    question="Is a new Cell in training mode?",
    matters=(
        "In torch a module trains until eval() is called; a Cell evaluates until set_train() is called, and so does a "
        "Cell that is added later. Model.train calls it, but a loop of one's own has to. Without it dropout drops "
        "nothing and batch normalisation uses its initial statistics and never updates them: the loss goes down "
        "all the same."
    ),
    harm=Harm.WRONG,
    symptom="dropout has no effect, BatchNorm's moving_mean stays 0 in a PyNative training loop; overfitting",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Call net.set_train() once the whole network is built and net.set_train(False) for evaluation.",
        cost="nothing",
    ),
    groups=("parameters",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/nn/cell.py: Cell.__init__, Cell.set_train",),
    counterproof=counterproof,
)
