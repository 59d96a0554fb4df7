"""ops.full with a number that is no integer, and no dtype."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Fill with 2.5."""
    from mindspore import ops

    filled = ops.full((1,), 2.5)
    found = float(filled.asnumpy()[0])
    return Finding(
        found == 2.5,
        f"ops.full((1,), 2.5) holds {found:g} as {filled.dtype}",
        {"found": found, "right": 2.5, "dtype": str(filled.dtype)},
    )


def counterproof() -> None:
    """Take the type from the number."""
    import mindspore
    from mindspore import ops

    original = ops.full

    def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
        if dtype is None and isinstance(fill_value, float):
            dtype = mindspore.float32
        return original(size, fill_value, dtype=dtype)

    ops.full = full


FEATURE = Feature(
    name="full_keeps_fractions",
    question="Does ops.full of a fraction hold that fraction?",
    matters=(
        "ops.full((n,), 0.1) silently gives integers, here zeros, where torch.full and numpy.full give 0.1; ops.full "
        "of infinity gives a large negative integer. A learning rate, a mask value or a constant that is filled this "
        "way is lost. ops.full_like of an integer Tensor does the same."
    ),
    harm=Harm.WRONG,
    symptom="ops.full((2,), 0.5) is [0 0] with dtype Int64",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=("Name the type: mindspore.ops.full(size, value, dtype=mindspore.float32)."),
        cost="none",
    ),
    groups=(
        "dtype",
        "operators",
    ),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/array_func.py: full",),
    counterproof=counterproof,
)
