"""nn.Embedding(padding_idx=) sets the padding row to zero once and then trains it."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Look up a padding index and another one, and see which rows get a gradient."""
    import mindspore
    from mindspore import nn, ops

    from ms_compat.moved import pynative_executor

    table = nn.Embedding(3, 2, padding_idx=0)

    def forward(indices: Any) -> Any:
        return ops.ReduceSum()(table(indices))

    engine = pynative_executor()
    flag = engine.grad_flag()
    try:
        _, gradients = mindspore.value_and_grad(forward, None, weights=[table.embedding_table])(
            mindspore.Tensor([0, 1], mindspore.int32)
        )
    finally:
        engine.set_grad_flag(flag)
    padding, other, _ = (float(row[0]) for row in gradients[0].asnumpy())
    return Finding(
        padding == 0.0 and other == 1.0,
        f"the padding row gets the gradient {padding} and another row {other} (right: 0.0 and 1.0)",
        {"padding_gradient": padding, "other_gradient": other},
    )


def counterproof() -> None:
    """Let no gradient through where the index is the padding index."""
    import mindspore
    from mindspore import nn, ops

    original = nn.Embedding.construct

    def construct(self: Any, indices: Any) -> Any:
        found = original(self, indices)
        mask = (indices != self.padding_idx).astype(mindspore.float32).expand_dims(-1)
        return ops.mul(found, mask) + ops.mul(ops.stop_gradient(found), 1 - mask)

    nn.Embedding.construct = construct


FEATURE = Feature(
    name="embedding_padding_gets_no_gradient",
    question="Does the padding row of nn.Embedding(padding_idx=) get no gradient?",
    matters=(
        "In torch padding_idx takes the row out of training. In nn.Embedding it only sets the row to zero when the "
        "table is made: the first step moves it, and from then on every padded position adds something that depends on "
        "the data. A ported model differs, and one whose padding is not masked later learns from it."
    ),
    harm=Harm.WRONG,
    symptom="the row of padding_idx is not zero after training; results depend on the amount of padding",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Multiply the output by a mask: table(ids) * (ids != padding).astype(table.embedding_table.dtype)"
            ".expand_dims(-1). It keeps the output zero and lets no gradient through. mint.nn.Embedding has no CPU "
            "kernel."
        ),
        cost="one product the size of the output",
    ),
    groups=("parameters",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/nn/layer/embedding.py: Embedding",),
    counterproof=counterproof,
)
