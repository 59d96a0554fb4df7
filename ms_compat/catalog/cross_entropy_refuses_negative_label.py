"""cross_entropy with the label -1."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Compare the loss of label -1 with that of the last class."""
    import mindspore
    from mindspore import ops

    from ms_compat.probing.workloads import first_line

    logits = mindspore.Tensor([[1.0, 2.0, 4.0]], mindspore.float32)

    def loss(label: int) -> float:
        return float(ops.cross_entropy(logits, mindspore.Tensor([label], mindspore.int32)).asnumpy())

    last = loss(2)
    try:
        found = loss(-1)
    except RuntimeError as error:
        return Finding(True, f"label -1 raises: {first_line(error)}", {"error": first_line(error)})
    of_last = abs(found - last) < 1e-6
    return Finding(
        False,
        f"on CPU label -1 gives the loss {found:.4f}{', that of the last class' if of_last else ''}",
        {"error": None, "loss": round(found, 4), "is_that_of_the_last_class": of_last},
    )


def counterproof() -> None:
    """Look at the labels first."""
    from mindspore import ops

    original = ops.cross_entropy

    def cross_entropy(logits: Any, labels: Any) -> Any:
        if int(labels.min()) < 0:
            raise RuntimeError("cross_entropy: a label is negative")
        return original(logits, labels)

    ops.cross_entropy = cross_entropy


FEATURE = Feature(
    name="cross_entropy_refuses_negative_label",
    question="Does cross_entropy refuse the label -1?",
    matters=(
        "-1 is a common mark for positions that do not count, while MindSpore ignores -100 unless it is told "
        "otherwise. On CPU -1 silently counts as the last class, where torch raises: the model is trained to predict "
        "the last class on padding."
    ),
    harm=Harm.WRONG,
    symptom="the loss counts padding that is marked with -1; the model prefers the last class, on CPU",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Pass ignore_index=-1 where padding is marked with -1, and check that the other labels are not negative."
        ),
        cost="none",
    ),
    groups=(
        "operators",
        "errors",
    ),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/nn_func.py: cross_entropy",),
    counterproof=counterproof,
)
