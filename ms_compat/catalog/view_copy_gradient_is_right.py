"""The gradient after a forward that overwrites a Tensor with copy_ into a view of it."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_POINT = 3.0
#: y is first 2 * x and then x * x through the view: the gradient is 2 * x, and only the first write's is 2.
_VALUE, _SLOPE = 9.0, 6.0


def probe() -> Finding:
    """Overwrite an operation's output through a view of it, and as a whole."""
    from mindspore import ops

    from ms_compat.probing.workloads import tensor, value_and_grad, wake_numpy

    wake_numpy()

    def overwritten(x: Any, *, through_view: bool) -> Any:
        y = ops.mul(x, tensor(2.0))
        if through_view:
            y.view(1, 1).copy_(ops.mul(x, x).view(1, 1))
        else:
            y.copy_(ops.mul(x, x))
        return y.sum()

    def run(*, through_view: bool) -> tuple[float, float]:
        value, slope = value_and_grad(lambda x: overwritten(x, through_view=through_view))(tensor(_POINT))
        return float(value.asnumpy()), float(slope.asnumpy()[0])

    whole = run(through_view=False)
    if whole != (_VALUE, _SLOPE):
        raise RuntimeError(f"even copy_ into the whole Tensor gives {whole}, not {(_VALUE, _SLOPE)}")
    value, slope = run(through_view=True)
    return Finding(
        (value, slope) == (_VALUE, _SLOPE),
        f"after copy_ into a view the value is {value:.2f} (right: {_VALUE:.2f}) and the gradient {slope:.2f} "
        f"(right: {_SLOPE:.2f})",
        {"value": value, "right_value": _VALUE, "gradient": slope, "right_gradient": _SLOPE},
    )


def counterproof() -> None:
    """Let copy_ into a view copy into what it is a view of."""
    import mindspore

    view, copy = mindspore.Tensor.view, mindspore.Tensor.copy_
    bases: list[tuple[Any, Any]] = []

    def remembering(self: Any, *shape: Any) -> Any:
        taken = view(self, *shape)
        bases.append((taken, self))
        return taken

    def copy_into_base(self: Any, source: Any, *rest: Any) -> Any:
        for taken, base in bases:
            if taken is self:
                return copy(base, view(source, *base.shape), *rest)
        return copy(self, source, *rest)

    mindspore.Tensor.view = remembering
    mindspore.Tensor.copy_ = copy_into_base


FEATURE = Feature(
    name="view_copy_gradient_is_right",
    question="Is the gradient right when a forward overwrites a Tensor with copy_ into a view of it?",
    matters=(
        "The value is that of the copied Tensor, but the gradient also flows to what was overwritten, so both are "
        "added. Preallocated outputs that are filled through view(...) train on a wrong gradient. 2.7.2 does not "
        "even write the value."
    ),
    harm=Harm.WRONG,
    symptom="gradients are too large where an output is filled with y.view(...).copy_(z) in the forward; no error",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "In a forward copy into the Tensor itself, y.copy_(z.view(y.shape)), or build the result with ops.cat or "
            "ops.where instead of filling it; both give the right gradient."
        ),
        cost="none for copy_; one more Tensor otherwise",
    ),
    groups=("views", "inplace", "tape"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/common/tensor.py: Tensor.copy_",),
    counterproof=counterproof,
)
