"""Tensor.clone()."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Clone a Tensor and wait for it, since the error comes when the pipeline runs it."""
    from ms_compat.probing.tensors import numbers, tensor_method
    from ms_compat.probing.workloads import drain, first_line, tensor

    tensor_method("clone")
    x = tensor(1.0, 2.0)
    drain()
    try:
        cloned = x.clone()
        drain()
    except RuntimeError as error:
        if "kernel" not in str(error).lower():
            raise
        return Finding(False, f"it raises: {first_line(error)}", {"error": first_line(error)})
    x.copy_(tensor(3.0, 4.0))
    found = numbers(cloned)
    return Finding(
        found == [1.0, 2.0],
        f"a clone of 1 and 2 holds {found[0]:g} and {found[1]:g} after the original was overwritten",
        {"error": None, "first": found[0], "second": found[1]},
    )


def counterproof() -> None:
    """Let it copy."""
    import mindspore

    mindspore.Tensor.clone = mindspore.Tensor.copy


FEATURE = Feature(
    name="tensor_clone_works",
    question="Does Tensor.clone() copy a Tensor?",
    matters=(
        "Code ported from torch clones everywhere, and MindSpore's documentation announces that copy() will be renamed "
        "to clone(). On CPU it has no kernel; the error comes later, at an operation that waits. Parameter.clone() "
        "works, but the original keeps every clone alive."
    ),
    harm=Harm.FAILS,
    symptom="RuntimeError: The kernel Clone unregistered",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Call tensor.copy(), which keeps the gradient as well.",
        cost="none",
    ),
    groups=("inplace",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/common/tensor.py: Tensor.clone, Tensor.copy",),
    counterproof=counterproof,
)
