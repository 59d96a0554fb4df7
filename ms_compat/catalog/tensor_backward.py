"""The torch-style interface of tensors: backward, grad, requires_grad, detach, retain_grad."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_NAMES = ("backward", "grad", "requires_grad", "is_leaf", "detach", "retain_grad")


def _look() -> None:
    import mindspore

    for name in _NAMES:
        if not hasattr(mindspore.Tensor, name):
            raise ApiMissing(f"mindspore.Tensor.{name}")


def inspect() -> Finding:
    """Look for the names."""
    _look()
    return Finding(True, f"mindspore.Tensor has {', '.join(_NAMES)}")


def probe() -> Finding:
    """Call backward on an output and look at the gradient of its leaf."""
    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import POINT, SLOPE, curve, leaf, recording

    _look()
    with recording():
        x = leaf(POINT)
        curve(x).backward()
        found = value(x.grad)
    return Finding(
        abs(found - SLOPE) < 1e-3,
        f"Tensor.backward gives the gradient {found:.4f} (right: {SLOPE:.4f})",
        {"gradient": found, "right_gradient": round(SLOPE, 4)},
    )


def counterproof() -> None:
    """Put them on the class, as HyperParallel does."""
    import mindspore
    from mindspore import ops

    from ms_compat.probing.workloads import backward

    tensor_type: Any = mindspore.Tensor
    tensor_type.backward = backward
    tensor_type.grad = property(lambda self: self._grad)
    tensor_type.requires_grad = property(lambda self: self._requires_grad)
    tensor_type.is_leaf = property(lambda self: self._is_leaf)
    tensor_type.detach = ops.stop_gradient
    tensor_type.retain_grad = lambda _: None


FEATURE = Feature(
    name="tensor_backward",
    question="Do tensors have backward, grad, requires_grad, is_leaf, detach and retain_grad of their own?",
    matters=(
        "Code written for torch calls them. No release has them; HyperParallel puts them on the Tensor class when it "
        "is imported (from 2.9 on), so a module that is imported before or without it fails, with an error that speaks "
        "of an attribute and not of the missing import."
    ),
    harm=Harm.MOVED,
    symptom="AttributeError: 'Tensor' object has no attribute 'backward' (or 'detach', 'requires_grad', 'retain_grad')",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Import HyperParallel's MindSpore platform before anything that uses them, or use "
            "mindspore.value_and_grad. The tape itself is there: _c_expression.run_backward((loss,), "
            "(ops.ones_like(loss),), False, False, (), allow_unreachable=True, accumulate_grad=True) fills _grad of "
            "leaves marked by requires_grad_() with what was recorded inside ms_compat.grad_recording(); "
            "mindspore.ops.stop_gradient detaches and shares the storage."
        ),
        cost="private names that may move",
    ),
    groups=("tape", "moved_names"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "mindspore/common/tensor.py: Tensor",
        "hyper_parallel/platform/mindspore/autograd_compat.py",
    ),
    counterproof=counterproof,
    inspect=inspect,
)
