"""SoftmaxCrossEntropyWithLogits with a label that is no class."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Take the loss of label 7 of 3 classes."""
    import mindspore
    from mindspore import nn

    from ms_compat.probing.workloads import first_line

    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
    logits = mindspore.Tensor([[1.0, 2.0, 3.0]], mindspore.float32)
    inside = float(loss(logits, mindspore.Tensor([0], mindspore.int32)).asnumpy()[0])
    if abs(inside - 2.4076) > 1e-3:
        raise RuntimeError(f"the loss of label 0 is {inside} instead of 2.4076")
    try:
        beyond = float(loss(logits, mindspore.Tensor([7], mindspore.int32)).asnumpy()[0])
    except (RuntimeError, ValueError) as error:
        return Finding(True, f"label 7 of 3 raises: {first_line(error)}", {"error": first_line(error), "loss": None})
    return Finding(
        False,
        f"on CPU label 7 of 3 classes gives the loss {abs(beyond):g}, with no error",
        {"error": None, "loss": abs(beyond)},
    )


def counterproof() -> None:
    """Look at the labels first."""
    from mindspore import nn

    original = nn.SoftmaxCrossEntropyWithLogits.construct

    def construct(self: Any, logits: Any, labels: Any) -> Any:
        if int(labels.max()) >= logits.shape[1]:
            raise ValueError("a label is out of range")
        return original(self, logits, labels)

    nn.SoftmaxCrossEntropyWithLogits.construct = construct


FEATURE = Feature(
    name="sparse_softmax_loss_refuses_label_out_of_range",
    question="Does the sparse softmax loss refuse a label that is out of range?",
    matters=(
        "nn.SoftmaxCrossEntropyWithLogits(sparse=True) silently gives a loss of 0 for a label below 0 or above the "
        "last class, and a gradient that pushes every class down. Wrong labels make the loss look better than it is."
    ),
    harm=Harm.WRONG,
    symptom="the loss is lower than it should be, or 0, with labels that are no classes, on CPU",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Call mindspore.ops.cross_entropy, which refuses labels above the last class and skips those of "
            "ignore_index, or check the labels first."
        ),
        cost="none",
    ),
    groups=(
        "operators",
        "errors",
    ),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/nn/loss/loss.py: SoftmaxCrossEntropyWithLogits",),
    counterproof=counterproof,
)
