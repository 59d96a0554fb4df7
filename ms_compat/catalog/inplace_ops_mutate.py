"""add_, mul_ and their like return the result and leave the Tensor as it was, on CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable

_START = 3.0
#: Each method with its arguments, and what the Tensor has to hold afterwards.
_METHODS: dict[str, tuple[tuple[float, ...], float]] = {
    "add_": ((2.0,), 5.0),
    "sub_": ((2.0,), 1.0),
    "mul_": ((2.0,), 6.0),
    "div_": ((2.0,), 1.5),
    "floor_divide_": ((2.0,), 1.0),
    "remainder_": ((2.0,), 1.0),
    "exp_": ((), 20.0855),
}


def probe() -> Finding:
    """Call each method and look what the Tensor holds afterwards."""
    from ms_compat.probing.tensors import listing, numbers, tensor_method
    from ms_compat.probing.workloads import tensor, wake_numpy

    wake_numpy()
    unchanged = []
    for name, (arguments, right) in _METHODS.items():
        method: Callable[..., Any] = tensor_method(name)
        x = tensor(_START)
        method(x, *arguments)
        (found,) = numbers(x)
        if found == _START:
            unchanged.append(name)
        elif abs(found - right) > 1e-3:
            raise RuntimeError(f"{name} made {found} of {_START}, neither what it was nor {right}")
    return Finding(
        not unchanged,
        f"{len(unchanged)} of {len(_METHODS)} in-place methods leave the Tensor as it was ({listing(unchanged)})",
        {"unchanged": listing(unchanged), "methods": len(_METHODS)},
    )


def counterproof() -> None:
    """Write what each method returns."""
    from ms_compat.probing.tensors import repair_methods

    repair_methods(*_METHODS)


FEATURE = Feature(
    name="inplace_ops_mutate",
    question="Do add_, sub_, mul_, div_, exp_ and their like change the Tensor they are called on?",
    matters=(
        "Accumulated gradients, running counts and gradient clipping are written with them: HyperParallel's "
        "acc_grad.add_(grad) and MindFormers' grad.mul_(scale) do nothing on CPU. The call returns the right result "
        "in a new Tensor, so a test that looks at the returned value passes."
    ),
    harm=Harm.WRONG,
    symptom=(
        "accumulated gradients or counters stay at zero and gradient clipping has no effect on CPU: x.add_(y) "
        "returns the sum, but x and its views keep their values"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.add_",
        action=(
            "Call ms_compat.add_(x, y), and sub_, mul_ and div_ like it. For the others write the result back: "
            "ms_compat.write_(x, ops.exp(x)). The write is not recorded: where a gradient has to flow through it, "
            "compute a new Tensor instead (x = ops.exp(x))."
        ),
        cost="one more Tensor of the same size, and a copy, per call",
    ),
    groups=("inplace",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/common/tensor.py: Tensor.add_",
        "hyper_parallel/core/fully_shard/hsdp_grad_hook.py: acc_grad.add_(grad)",
        "mindformers/pynative/trainer/utils.py: grad.mul_(scale)",
        "mindformers/pynative/transformers/moe/moe_layer.py: tokens_per_expert.add_",
    ),
    counterproof=counterproof,
)
