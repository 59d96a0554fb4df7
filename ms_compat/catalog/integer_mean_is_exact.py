"""The mean of integers."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Take the mean of 1 and 2."""
    import mindspore
    from mindspore import ops

    mean = ops.mean(mindspore.Tensor([1, 2], mindspore.int32))
    found = float(mean.asnumpy())
    overflowing = float(ops.mean(mindspore.Tensor([200, 200], mindspore.uint8)).asnumpy())
    return Finding(
        found == 1.5 and overflowing == 200.0,
        f"on CPU the mean of 1 and 2 is {found:g} as {mean.dtype}, and that of 200 and 200 as bytes {overflowing:g}",
        {"mean": found, "right": 1.5, "mean_of_bytes": overflowing, "right_of_bytes": 200.0, "dtype": str(mean.dtype)},
    )


def counterproof() -> None:
    """Convert first."""
    import mindspore
    from mindspore import ops

    original = ops.mean

    def mean(x: Any, *args: Any, **kwargs: Any) -> Any:
        return original(x.astype(mindspore.float32), *args, **kwargs)

    ops.mean = mean


FEATURE = Feature(
    name="integer_mean_is_exact",
    question="Is the mean of integers the mean?",
    matters=(
        "torch refuses a mean of integers and numpy gives a fraction; MindSpore silently cuts it off, and small types "
        "overflow on the way. A mean of lengths, counts, token numbers or pixels in bytes, in a metric or a "
        "normalisation, is silently wrong."
    ),
    harm=Harm.WRONG,
    symptom="the mean of [1, 2] is 1; the mean of an image in uint8 is far too small",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Convert first, tensor.astype(mindspore.float32).mean(), or call mindspore.mint.mean(tensor, "
            "dtype=mindspore.float32)."
        ),
        cost="a copy of the Tensor as float32",
    ),
    groups=(
        "dtype",
        "operators",
    ),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/math_func.py: mean",),
    counterproof=counterproof,
)
