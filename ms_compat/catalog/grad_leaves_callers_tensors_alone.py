"""grad and value_and_grad switch requires_grad on in the tensors they are called with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Differentiate with respect to a plain tensor and look at it afterwards."""
    import mindspore

    from ms_compat.probing.workloads import curve, recording, tensor

    switched: list[str] = []
    with recording(on=False):
        for name in ("grad", "value_and_grad"):
            x = tensor(0.5)
            getattr(mindspore, name)(curve)(x)
            if x._requires_grad:
                switched.append(name)
    return Finding(
        not switched,
        f"{' and '.join(switched)} switched requires_grad on in the caller's tensor"
        if switched
        else "grad and value_and_grad leave requires_grad off in the caller's tensor",
        {"switched_on_by": ", ".join(switched) or None},
    )


def counterproof() -> None:
    """Differentiate with respect to tensors of its own that share the caller's storage."""
    from mindspore import Tensor, ops

    from ms_compat.probing.tape import patch_differentiation

    def change(differentiate: Callable[..., Any]) -> Callable[..., Any]:
        def run(*inputs: Any) -> Any:
            return differentiate(*[ops.stop_gradient(x) if isinstance(x, Tensor) else x for x in inputs])

        return run

    patch_differentiation(change)


FEATURE = Feature(
    name="grad_leaves_callers_tensors_alone",
    question="Do grad and value_and_grad leave requires_grad of the tensors they are called with as it was?",
    matters=(
        "A batch, a mask or a cached activation that was once handed to grad requires a gradient ever after. What a "
        "torch-style tape computes from it is recorded and kept, gradients pile up in it, and a recomputed block that "
        "reads it saves other tensors in its replay than it did in its forward."
    ),
    harm=Harm.GROWS,
    symptom=(
        "a tensor's _requires_grad is True although nobody set it; evaluation of a batch that was trained on keeps "
        "graphs"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Hand mindspore.ops.stop_gradient(x) to the function that grad or value_and_grad returned instead of x: "
            "it shares the storage and takes the switch on itself."
        ),
        cost="one view per input",
    ),
    groups=("tape",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/ops/composite/base.py: _Grad", "mindspore/graph/api.py: _PyNativeExecutor.grad"),
    counterproof=counterproof,
)
