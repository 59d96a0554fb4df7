"""A tensor hook may replace a gradient by one of another shape or dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Return a gradient of another shape, and one of another dtype, from the hook of a leaf."""
    import mindspore
    from mindspore import ops

    from ms_compat.probing.workloads import backward, leaf, recording, tensor

    replacements: dict[str, Callable[[Any], Any]] = {
        "shape": lambda _: tensor(1.0),
        "dtype": lambda gradient: ops.cast(gradient, mindspore.float16),
    }
    accepted: dict[str, str] = {}
    with recording():
        for kind, replace in replacements.items():
            x = leaf(0.5, 0.5)
            handle = x.register_hook(replace)
            try:
                backward(ops.exp(x))
                found = {"shape": str(tuple(x._grad.shape)), "dtype": str(x._grad.dtype)}[kind]
                if found != {"shape": "(2,)", "dtype": "Float32"}[kind]:
                    accepted[kind] = found
            except (RuntimeError, ValueError, TypeError) as error:
                if kind not in str(error):
                    raise
            finally:
                handle.remove()
    return Finding(
        not accepted,
        "a float32 tensor of shape (2,) gets "
        + (
            " and ".join(f"a gradient of {kind} {found}" for kind, found in accepted.items()) + " from its hook"
            if accepted
            else "no gradient of another shape or dtype from its hook"
        ),
        {"wrong_shape": accepted.get("shape"), "wrong_dtype": accepted.get("dtype")},
    )


def counterproof() -> None:
    """Compare what a hook returns with what it was given."""
    import mindspore

    tensor_type = mindspore.Tensor
    original = tensor_type.register_hook

    def register_hook(self: Any, hook: Callable[[Any], Any]) -> Any:
        def checked(gradient: Any) -> Any:
            replaced = hook(gradient)
            if replaced is not None and replaced.shape != gradient.shape:
                raise RuntimeError("hook returned another shape")
            if replaced is not None and replaced.dtype != gradient.dtype:
                raise RuntimeError("hook returned another dtype")
            return replaced

        return original(self, checked)

    tensor_type.register_hook = register_hook


FEATURE = Feature(
    name="hook_return_is_checked",
    question="Is it an error when a tensor hook returns a gradient of another shape or dtype?",
    matters=(
        "A hook that reduces, scatters or casts gradients and gets it wrong leaves a gradient behind that does not fit "
        "its tensor. Inside the graph it is broadcast into wrong numbers, at a leaf it lands in the optimizer, which "
        "broadcasts it too or computes in another precision. torch raises at once."
    ),
    harm=Harm.WRONG,
    symptom="a gradient has not the shape or dtype of its parameter; torch says: hook has changed the size of value",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="In every hook that returns a gradient, compare its shape and dtype with those of the one it was given.",
        cost="two comparisons per hook call",
    ),
    groups=("hooks",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/common/tensor.py: Tensor.register_hook",),
    counterproof=counterproof,
)
