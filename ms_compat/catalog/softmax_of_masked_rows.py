"""softmax of a batch in which one row is masked entirely."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Take the softmax of a row of minus infinity and the ordinary row after it."""
    import math

    import mindspore
    from mindspore import ops

    masked, ordinary = [-math.inf] * 3, [1.0, 2.0, 4.0]
    found = ops.softmax(mindspore.Tensor([masked, ordinary], mindspore.float32)).asnumpy()[1].tolist()
    total = sum(math.exp(value) for value in ordinary)
    right = [math.exp(value) / total for value in ordinary]
    holds = all(abs(one - other) < 1e-4 for one, other in zip(found, right, strict=True))
    return Finding(
        holds,
        f"on CPU the row after one that is masked entirely {'is right' if holds else 'is wrong'}",
        {"row_after_is_right": holds, "right_of_last": round(right[-1], 4)},
    )


def counterproof() -> None:
    """Compute it from its parts."""
    from mindspore import ops

    def softmax(x: Any, axis: int = -1) -> Any:
        powers = ops.exp(x)
        return ops.div(powers, powers.sum(axis, keepdims=True))

    ops.softmax = softmax


FEATURE = Feature(
    name="softmax_of_masked_rows",
    question="Is the softmax of a row right when the row before it is masked entirely?",
    matters=(
        "A padded sample or a causal mask with an empty row gives a row of minus infinity. The CPU kernel for short "
        "rows of float32 stops there: this row and every row after it keep whatever was in memory, in the ordinary "
        "rows as well, without an error and without NaN. float16 and rows of 16 and more were right in the ordinary "
        "rows."
    ),
    harm=Harm.WRONG,
    symptom="attention weights that are zero or arbitrary for samples after a padded one, on CPU",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Mask with a large finite number (-1e9, or the smallest of the type) instead of minus infinity, so that "
            "no row is empty."
        ),
        cost="the masked row gets equal weights, which are finite",
    ),
    groups=("operators",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/ops/function/nn_func.py: softmax",
        "mindspore/ops/kernel/cpu: Softmax",
    ),
    counterproof=counterproof,
)
