"""The gradient with respect to a list, tuple or dict of tensors is an empty tuple."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Differentiate with respect to an argument that is a list, and one that is a dict, of tensors."""
    import mindspore
    from mindspore import Tensor, ops

    from ms_compat.probing.workloads import recording, tensor

    found: dict[str, int] = {}
    with recording(on=False):
        for kind, argument in {"list": [tensor(0.5)], "dict": {0: tensor(0.5)}}.items():
            slopes = mindspore.grad(lambda tensors: ops.exp(tensors[0]))(argument)
            found[kind] = 1 if isinstance(slopes, Tensor) else len(slopes)
    lost = [kind for kind, gradients in found.items() if not gradients]
    return Finding(
        not lost,
        f"the gradient with respect to a {' or a '.join(lost)} of tensors is empty, without an error"
        if lost
        else "the gradient with respect to a list or a dict has one for each tensor in it",
        {"empty_for": ", ".join(lost) or None},
    )


def counterproof() -> None:
    """Differentiate with respect to each tensor of the container."""
    import mindspore

    native = mindspore.grad

    def grad(function: Any) -> Any:
        def run(container: Any) -> Any:
            names = list(container) if isinstance(container, dict) else list(range(len(container)))

            def of_tensors(*tensors: Any) -> Any:
                return function(dict(zip(names, tensors, strict=True)))

            slopes = native(of_tensors, tuple(range(len(names))))(*(container[name] for name in names))
            return dict(zip(names, slopes, strict=True))

        return run

    mindspore.grad = grad


FEATURE = Feature(
    name="grad_of_container_arguments",
    question="Do grad and value_and_grad give a gradient for the tensors in a list, tuple or dict argument?",
    matters=(
        "A batch that is a dict, a cache that is a list, parameters in a pytree: jax and torch.func return gradients "
        "of the same structure. MindSpore returns an empty tuple and no error, and a loop over it does nothing."
    ),
    harm=Harm.FAILS,
    symptom=(
        "mindspore.grad or value_and_grad returns () as the gradient; IndexError: tuple index out of range after it"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Give each tensor that is differentiated as an argument of its own and build the container inside of the "
            "function: mindspore.grad(lambda *t: f(dict(zip(names, t))), tuple(range(len(names))))(*values)."
        ),
        cost="none",
    ),
    groups=("tape",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/ops/composite/base.py: _Grad",),
    counterproof=counterproof,
)
