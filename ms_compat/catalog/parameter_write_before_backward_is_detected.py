"""set_data, assign, item assignment and optimizers change a Parameter without counting its version."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Write into a Parameter between forward and backward in several ways, and look at error and gradient."""
    from mindspore import nn, ops

    from ms_compat.moved import no_grad
    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import backward, drain, parameter, recording, tensor, wake_numpy

    wake_numpy()

    def counted_copy(weight: Any) -> None:
        with no_grad():
            weight.copy_(tensor(3.0))

    def item(weight: Any) -> None:
        weight[0] = 3.0

    def optimizer_step(weight: Any) -> None:
        nn.SGD([weight], learning_rate=1.0)((tensor(-2.5),))

    ways = {
        "copy_": counted_copy,
        "set_data": lambda weight: weight.set_data(tensor(3.0)),
        "assign": lambda weight: ops.assign(weight, tensor(3.0)),
        "item assignment": item,
        "optimizer": optimizer_step,
    }
    found: dict[str, float | None] = {}
    with recording() as engine:
        for way, write in ways.items():
            weight = parameter(0.5)
            output = ops.mul(weight, weight)
            write(weight)
            drain()
            engine.set_grad_flag(True)
            try:
                backward(output)
                found[way] = value(weight._grad)
            except RuntimeError as error:
                if "modified by an inplace operation" not in str(error):
                    raise
                found[way] = None  # the error is what is wanted
    if found.pop("copy_") is not None:
        raise RuntimeError("even a write through copy_ was not noticed, so nothing can be said about the others")
    wrong = {way: gradient for way, gradient in found.items() if gradient is not None and abs(gradient - 1.0) > 1e-3}
    return Finding(
        not wrong,
        f"of {len(found)} ways to write a Parameter between forward and backward, {len(wrong)} raise nothing and give "
        f"a wrong gradient{': ' if wrong else ''}{', '.join(f'{way} {slope:.1f}' for way, slope in wrong.items())}"
        f"{' (right: 1.0)' if wrong else ''}",
        {"silent": ", ".join(wrong) or None, "ways": len(found), "right_gradient": 1.0},
    )


def counterproof() -> None:
    """Follow every one of these writes by a copy_, whose version is counted."""
    import mindspore
    from mindspore import nn, ops

    from ms_compat.moved import no_grad
    from ms_compat.probing.workloads import tensor

    def count(weight: Any) -> None:
        with no_grad():
            weight.copy_(ops.mul(weight, tensor(1.0)))

    def counted(native: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(native)
        def write(first: Any, *rest: Any, **keywords: Any) -> Any:
            result = native(first, *rest, **keywords)
            for weight in getattr(first, "parameters", [first]):
                count(weight)
            return result

        return write

    weight_type: Any = mindspore.Parameter
    weight_type.set_data = counted(weight_type.set_data)
    weight_type.__setitem__ = counted(weight_type.__setitem__)
    ops.assign = counted(ops.assign)
    nn.SGD.__call__ = counted(nn.SGD.__call__)


FEATURE = Feature(
    name="parameter_write_before_backward_is_detected",
    question="Is it an error when a Parameter that a backward needs was changed after the forward?",
    matters=(
        "An optimizer step, an averaging of weights or a load_param_into_net between a forward and its backward, as "
        "pipeline schedules and delayed updates may have it, gives the gradient at the new weights for the activations "
        "of the old ones. For copy_ MindSpore raises; these writes it does not count."
    ),
    harm=Harm.WRONG,
    symptom=(
        "gradients are slightly wrong when the optimizer runs before the last backward of a step; torch raises there: "
        "one of the variables needed for gradient computation has been modified by an inplace operation"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Run every backward of a step before the optimizer and before set_data or assign. To have a write noticed, "
            "make it with weight.copy_(new) inside _no_grad()."
        ),
        cost="none; where a schedule needs the old weights, it has to keep a copy of them",
    ),
    groups=("tape", "inplace", "parameters"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/common/parameter.py: Parameter.set_data",
        "mindspore/ops/auto_generate/gen_ops_def.py: assign",
    ),
    counterproof=counterproof,
)
