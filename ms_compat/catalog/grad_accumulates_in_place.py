"""A second backward puts a new tensor into _grad instead of adding to the one that is there."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Give a leaf a buffer as its gradient, run a backward, and look at the buffer."""
    from mindspore import ops

    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import backward, drain, leaf, recording, tensor

    with recording():
        x = leaf(0.0)
        buffer = tensor(1.0)
        x._grad = buffer
        backward(ops.exp(x))
        drain()
        accumulated, kept = value(x._grad), value(buffer)
    if accumulated != 2.0:
        raise RuntimeError(f"a gradient of 1 was added to 1, but _grad is {accumulated}")
    return Finding(
        kept == accumulated,
        f"a backward adds its gradient of 1 to a buffer of 1 that was set as _grad: _grad is then {accumulated}, the "
        f"buffer {kept}",
        {"grad": accumulated, "buffer": kept},
    )


def counterproof() -> None:
    """Write the sum into the tensor that was there."""
    import importlib

    import mindspore

    extension: Any = importlib.import_module("mindspore._c_expression")
    native = extension.run_backward
    leaves: list[Any] = []
    tensor_type: Any = mindspore.Tensor
    mark = tensor_type.requires_grad_

    def requires_grad_(self: Any, *args: Any) -> Any:
        leaves.append(self)
        return mark(self, *args)

    def run_backward(*args: Any, **kwargs: Any) -> Any:
        former = [each._grad for each in leaves]
        result = native(*args, **kwargs)
        for each, old in zip(leaves, former, strict=True):
            if old is not None:
                old.copy_(each._grad)
                each._grad = old
        return result

    tensor_type.requires_grad_ = requires_grad_
    extension.run_backward = run_backward


FEATURE = Feature(
    name="grad_accumulates_in_place",
    question="Does a backward add to the tensor that is in _grad already, rather than put another one there?",
    matters=(
        "Distributed optimizers give each parameter a view of one flat buffer as its gradient and reduce the buffer. "
        "After a backward _grad is a tensor of its own: the buffer still holds what it held, and that is what is "
        "reduced and applied. In torch, gradients add up in the buffer."
    ),
    harm=Harm.WRONG,
    symptom="a flat gradient buffer stays zero although every parameter has a gradient; weights are not updated",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Register a hook on each parameter that adds the gradient to the buffer, or copy _grad into it after every "
            "backward and set _grad to None. Read parameter._grad again after each backward: an object read before "
            "does not follow."
        ),
        cost="one copy per parameter and backward, and the memory of a second gradient until it is set to None",
    ),
    groups=("tape", "inplace"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore._c_expression.run_backward", "hyper_parallel/platform/mindspore/autograd_compat.py"),
    counterproof=counterproof,
)
