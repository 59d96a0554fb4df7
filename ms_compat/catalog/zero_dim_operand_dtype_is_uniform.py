"""The dtype that comes out when a 0-d Tensor of a wider dtype is added, subtracted, multiplied or divided by."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Combine a float16 Tensor with a 0-d float32 one in four operations."""
    import mindspore
    from mindspore import ops

    x = mindspore.Tensor([1.0], mindspore.float16)
    scale = mindspore.Tensor(2.0, mindspore.float32)
    dtypes = {
        name: str(getattr(ops, name)(x, scale).dtype).lower().removeprefix("mindspore.")
        for name in ("add", "sub", "mul", "div")
    }
    return Finding(
        len(set(dtypes.values())) == 1,
        "float16 combined with a 0-d float32 gives " + ", ".join(f"{dtype} ({name})" for name, dtype in dtypes.items()),
        dict(dtypes),
    )


FEATURE = Feature(
    name="zero_dim_operand_dtype_is_uniform",
    question="Do add, sub, mul and div with a 0-d Tensor of a wider dtype all give the same dtype?",
    matters=(
        "A loss scale, a temperature or a norm is a 0-d float32 Tensor. From 2.8 on its product with a float16 Tensor "
        "is float16 and overflows where 2.7.2 computed in float32, from 2.9 on the quotient as well, while sum and "
        "difference stay float32. The same training script has another precision on each release."
    ),
    harm=Harm.WRONG,
    symptom=(
        "inf or NaN in float16 after an upgrade: loss * scale with a 0-d float32 scale is float16 from 2.8, division "
        "by one from 2.9; a dtype mismatch between x + s and x * s"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Do not leave the dtype to the release: convert first, x.astype(mindspore.float32) * scale, or "
            "scale.astype(x.dtype)."
        ),
        cost="one cast",
    ),
    groups=("dtype", "amp"),
    spans=(Span(">=2.7.2,<2.8", True, device="CPU"), Span(">=2.8,<2.11", False, device="CPU")),
    references=("mindspore/ops/auto_generate/gen_ops_prim.py: Mul, Add (implicit conversion)",),
)
