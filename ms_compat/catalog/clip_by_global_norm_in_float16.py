"""ops.clip_by_global_norm adds up squares in the dtype of the gradients."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_GRADIENT = (300.0, 400.0)


def probe() -> Finding:
    """Clip a float16 gradient of norm 500 to norm 1, and the same one in float32."""
    import math

    import mindspore
    from mindspore import ops

    from ms_compat.probing.names import api

    api("mindspore.ops", "clip_by_global_norm")

    def clipped_norm(dtype: Any) -> float:
        (clipped,) = ops.clip_by_global_norm((mindspore.Tensor(list(_GRADIENT), dtype),), 1.0)
        return math.hypot(*map(float, clipped.asnumpy()))

    half, single = clipped_norm(mindspore.float16), clipped_norm(mindspore.float32)
    return Finding(
        abs(half - 1.0) < 0.01,
        f"a gradient of norm 500 that is clipped to norm 1 has norm {half:.3f} in float16 and {single:.3f} in float32",
        {"norm_float16": round(half, 4), "norm_float32": round(single, 4), "right_norm": 1.0},
    )


def counterproof() -> None:
    """Clip in float32."""
    import mindspore
    from mindspore import ops

    original = ops.clip_by_global_norm

    def clip(gradients: Any, clip_norm: float = 1.0) -> Any:
        single = tuple(gradient.astype(mindspore.float32) for gradient in gradients)
        clipped = original(single, clip_norm)
        return tuple(mine.astype(given.dtype) for mine, given in zip(clipped, gradients, strict=True))

    ops.clip_by_global_norm = clip


FEATURE = Feature(
    name="clip_by_global_norm_in_float16",
    question="Does ops.clip_by_global_norm clip float16 gradients to the norm asked for?",
    matters=(
        "The squares are added in float16, which ends at 65504: a gradient whose norm is above 256, as a loss scale of "
        "1024 easily makes it, gets an infinite norm and is clipped to exactly zero. There is no nan and no infinity "
        "in the result, so an overflow check behind the clipping finds nothing: the step is simply lost."
    ),
    harm=Harm.WRONG,
    symptom="gradients are all zero after clip_by_global_norm with float16 and loss scaling; the weights do not move",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Divide by the loss scale and clip in float32: ops.clip_by_global_norm(tuple(g.astype(mindspore.float32) "
            "for g in gradients), norm). bfloat16 gradients have the range, but should be clipped in float32 as well."
        ),
        cost="a float32 copy of the gradients",
    ),
    groups=("optimizer", "amp", "dtype"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/clip_func.py: clip_by_global_norm", "mindformers/core/clip_grad.py"),
    counterproof=counterproof,
)
