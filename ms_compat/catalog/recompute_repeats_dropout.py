"""Whether recompute's replay drops the elements that its forward dropped."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_ELEMENTS = 256


def probe() -> Finding:
    """Compare which elements the forward dropped with those the gradient says the replay dropped."""
    import importlib

    import mindspore
    from mindspore import nn, ops

    from ms_compat.probing.workloads import accepts, block, recompute, tensor, value_and_grad

    checkpoint = recompute()
    ways: list[dict[str, bool]] = [{}]
    if accepts(checkpoint, "use_reentrant"):
        ways = [{"use_reentrant": True}, {"use_reentrant": False}]
    # A Dropout takes its seed from a counter that the cells created later would miss, and recompute sets the state.
    counters = importlib.import_module("mindspore.common.seed")._KERNEL_SEED
    before, state = dict(counters), mindspore.get_rng_state()
    try:
        dropout = nn.Dropout(p=0.5)
        dropout.set_train()
        cell = block(lambda x: ops.mul(dropout(x), x))
        differing = 0
        for way in ways:
            gradient = value_and_grad(lambda x, way=way: checkpoint(cell, x, **way))
            # Both are zero exactly where an element was dropped: the output in the forward, the gradient in the replay.
            output, slope = (found.asnumpy() != 0 for found in gradient(tensor(*[3.0] * _ELEMENTS)))
            differing = max(differing, int((output != slope).sum()))
    finally:
        mindspore.set_rng_state(state)
        counters.clear()
        counters.update(before)
    return Finding(
        differing == 0,
        f"the replay's dropout mask differs from the forward's in {differing} of {_ELEMENTS} elements",
        {"differing": differing, "elements": _ELEMENTS},
    )


def counterproof() -> None:
    """Draw the mask from the random state that recompute saves and sets again."""
    import mindspore
    import numpy as np
    from mindspore import nn, ops

    def construct(self: Any, x: Any) -> Any:
        state = mindspore.get_rng_state().asnumpy()
        kept = np.random.default_rng(state.tolist()).random(x.shape) >= self.p
        return ops.mul(x, mindspore.Tensor(kept / (1.0 - self.p), x.dtype))

    nn.Dropout.construct = construct


FEATURE = Feature(
    name="recompute_repeats_dropout",
    question="Does recompute's replay draw the dropout mask that its forward drew?",
    matters=(
        "The loss comes from one mask and the gradient from another, so the gradient is that of a function nobody "
        "computed. recompute saves and sets the random state for this, but nn.Dropout does not draw from it on CPU."
    ),
    harm=Harm.WRONG,
    symptom="a model with dropout trains worse with recompute than without; with p=0 the two agree; no error is raised",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.recompute",
        action="Call ms_compat.recompute, whose replay gets what the random operators of the forward put out.",
        cost="the outputs of random operators in a block stay in memory from the forward to the backward",
        works_on=">=2.8",
        missing="Use MindSpore >= 2.8: older releases have no non-reentrant recompute.",
    ),
    groups=("recompute", "rng"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/common/recompute.py: recompute_without_reentrant",
        "mindspore/nn/layer/basic.py: Dropout",
    ),
    counterproof=counterproof,
)
