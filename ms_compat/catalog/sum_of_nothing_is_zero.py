"""The sum of a Tensor without elements."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_TRIES = 10


def probe() -> Finding:
    """Sum empty Tensors of several kinds, many times, since what they give is arbitrary."""
    import mindspore
    import numpy as np
    from mindspore import ops

    from ms_compat.probing.workloads import tensor

    values = tensor(1.0, 2.0)
    nothing = ops.greater(values, tensor(5.0, 5.0))
    wrong = 0
    for _ in range(_TRIES):
        empty = [
            mindspore.Tensor(np.full(8, 7, np.int32)[:0]),
            mindspore.Tensor(np.full(8, 7.0, np.float32)[:0]),
            ops.masked_select(values, nothing),
            values[nothing],
        ]
        wrong += sum(float(ops.sum(one).asnumpy()) != 0.0 for one in empty)
    return Finding(
        wrong == 0,
        f"on CPU the sum of a Tensor without elements is {'always 0' if wrong == 0 else 'an arbitrary number'}",
        {"always_zero": wrong == 0, "tries": 4 * _TRIES},
    )


def counterproof() -> None:
    """Answer 0 where there is nothing to sum."""
    import mindspore
    from mindspore import ops

    original = ops.sum
    ops.sum = lambda x: original(x) if x.size else mindspore.Tensor(0.0, mindspore.float32)


FEATURE = Feature(
    name="sum_of_nothing_is_zero",
    question="Is the sum of a Tensor without elements 0?",
    matters=(
        "A loss over the tokens that a mask leaves, an accuracy over samples that were found, an expert that got no "
        "token: when nothing is left the sum is whatever lies in memory, on CPU, without an error. The mean is "
        "infinite or arbitrary instead of NaN."
    ),
    harm=Harm.WRONG,
    symptom="a loss or metric of 1e20 or another arbitrary number when a batch has nothing to count, on CPU",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=("Multiply with the mask and sum over the whole, (x * mask).sum(), or ask for x.size == 0 first."),
        cost="none to speak of",
    ),
    groups=("operators",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/math_func.py: sum",),
    counterproof=counterproof,
)
