"""clamp of integers with bounds that are fractions."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Clamp 1 and 5 between 1.5 and 2.5."""
    import mindspore
    from mindspore import ops

    clamped = ops.clamp(mindspore.Tensor([1, 5], mindspore.int32), 1.5, 2.5)
    found = [float(value) for value in clamped.asnumpy().tolist()]
    return Finding(
        found == [1.5, 2.5],
        f"1 and 5 clamped between 1.5 and 2.5 are {found[0]:g} and {found[1]:g} as {clamped.dtype}",
        {"least": found[0], "most": found[1], "dtype": str(clamped.dtype)},
    )


FEATURE = Feature(
    name="integer_clamp_keeps_fractional_bounds",
    question="Does clamp of integers honour bounds that are fractions?",
    matters=(
        "Below 2.9 the bounds are cut to integers and the result stays an integer, from 2.9 on it becomes a float, as "
        "in torch. The same line gives other values and another type on another release, and whatever is computed "
        "from it differs."
    ),
    harm=Harm.WRONG,
    symptom="clamp of an integer Tensor gives Int64 on one machine and Float32 on another",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Convert first: mindspore.ops.clamp(x.astype(mindspore.float32), 1.5, 2.5), which is the same on every "
            "release."
        ),
        cost="a copy of the Tensor as float32",
        remove_when=">=2.9",
    ),
    groups=(
        "dtype",
        "operators",
    ),
    spans=(
        Span(">=2.7.2,<2.9", False, device="CPU"),
        Span(">=2.9,<2.11", True, device="CPU"),
    ),
    references=("mindspore/ops/function/math_func.py: clamp",),
)
