"""relu of NaN."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Apply relu, and relu6 as the control, to NaN."""
    import math

    from mindspore import ops

    from ms_compat.probing.workloads import tensor

    kept = math.isnan(float(ops.relu(tensor(math.nan)).asnumpy()[0]))
    if not math.isnan(float(ops.relu6(tensor(math.nan)).asnumpy()[0])):
        raise RuntimeError("relu6 of NaN is not NaN either")
    return Finding(
        kept,
        f"on CPU relu of NaN is {'NaN' if kept else '0'}; relu6 of NaN is NaN",
        {"keeps_nan": kept},
    )


def counterproof() -> None:
    """Hand NaN on."""
    from mindspore import ops

    original = ops.relu
    ops.relu = lambda x: ops.add(original(x), ops.mul(x, 0.0))


FEATURE = Feature(
    name="relu_keeps_nan",
    question="Is relu of NaN NaN?",
    matters=(
        "A loss that turns NaN is how people notice that training broke, and loss scaling relies on it. On CPU relu "
        "turns NaN into 0, in the forward and in its gradient: an overflow before it is silently hidden, and a "
        "network goes on with dead activations."
    ),
    harm=Harm.WRONG,
    symptom="no NaN in the loss although a layer before a relu produced NaN, on CPU",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Check what goes into a relu for NaN where it matters (mindspore.ops.isnan(x).any()), or use "
            "ops.maximum(ops.relu(x), x), which hands NaN on."
        ),
        cost="one more operation",
    ),
    groups=(
        "operators",
        "errors",
    ),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/nn_func.py: relu",),
    counterproof=counterproof,
)
