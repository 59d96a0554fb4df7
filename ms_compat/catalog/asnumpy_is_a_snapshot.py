"""The array that asnumpy() gives, after the Tensor was written to in place."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Take the array of a parameter, let an optimizer step, and look at the array again."""
    import mindspore
    from mindspore import nn

    from ms_compat.probing.workloads import drain, tensor

    parameter = mindspore.Parameter(tensor(4.0), name="p")
    drain()
    before = parameter.asnumpy()
    nn.SGD([parameter], 0.5)((tensor(2.0),))
    drain()
    after = float(parameter.asnumpy()[0])
    if after != 3.0:
        raise RuntimeError(f"an optimizer step took the parameter to {after}, not 3")
    kept = float(before[0])
    return Finding(
        kept == 4.0,
        f"an array taken before an optimizer step from 4 to 3 holds {kept:g} after it",
        {"array": kept, "before": 4.0, "after": after},
    )


def counterproof() -> None:
    """Copy the array."""
    import mindspore

    original = mindspore.Tensor.asnumpy

    def asnumpy(self: Any) -> Any:
        return original(self).copy()

    mindspore.Tensor.asnumpy = asnumpy


FEATURE = Feature(
    name="asnumpy_is_a_snapshot",
    question="Does the array that asnumpy() gave keep its values when the Tensor is written to afterwards?",
    matters=(
        "On CPU it shares the Tensor's memory; device memory numpy cannot share, so there it is a copy. A test that "
        "compares weights before and after a step sees no change, a logged value changes in the log buffer, a kept "
        "best state is the last state - on CPU only, so the same code says two things on two devices."
    ),
    harm=Harm.WRONG,
    symptom="weights seem not to change in training on CPU: before = p.asnumpy() equals p.asnumpy() after the step",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Copy what is kept: before = p.asnumpy().copy().",
        cost="one copy on the host",
    ),
    groups=("inplace", "parameters"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/common/tensor.py: Tensor.asnumpy",),
    counterproof=counterproof,
)
