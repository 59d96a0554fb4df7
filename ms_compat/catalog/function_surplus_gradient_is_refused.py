"""A custom backward that returns more gradients than its forward had inputs."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_INPUTS = (1, 2, 3, 4)
_TRIES = 100
_REFUSALS = ("but gradient is not none", "wrong number of gradients")


def probe() -> Finding:
    """Return one gradient too many until that is accepted: about every second one is."""
    from mindspore import ops
    from mindspore.common._grad_function import _Function

    from ms_compat.probing.workloads import backward, leaf, recording

    class First(_Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            ctx.surplus = len(inputs) + 1
            return ops.exp(inputs[0])

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return (gradient,) * ctx.surplus

    def is_refused(inputs: int) -> bool:
        output = First.apply(*[leaf(0.5) for _ in range(inputs)])
        try:
            backward(output)
        except RuntimeError as error:
            if not any(refusal in str(error) for refusal in _REFUSALS):
                raise
            return True
        return False

    with recording():
        always = all(is_refused(_INPUTS[place % len(_INPUTS)]) for place in range(_TRIES))
    return Finding(
        always,
        f"a backward that returns one gradient too many is {'always refused' if always else 'accepted at random'}",
        {"always_refused": always, "most_tries": _TRIES},
    )


def counterproof() -> None:
    """Compare the number of gradients with the number of inputs, as the check is meant."""
    from mindspore.common._grad_function import _Function

    apply = _Function.apply.__func__

    def checked(cls: Any, *inputs: Any, **keywords: Any) -> Any:
        original = cls.backward

        def backward(ctx: Any, *gradients: Any) -> Any:
            found = original(ctx, *gradients)
            if isinstance(found, tuple) and len(found) != len(inputs):
                raise RuntimeError(f"Function backward return a wrong number of gradients: {len(found)}")
            return found

        checking = type(cls.__name__, (cls,), {"backward": staticmethod(backward)})
        return apply(checking, *inputs, **keywords)

    _Function.apply = classmethod(checked)


FEATURE = Feature(
    name="function_surplus_gradient_is_refused",
    question="Is a custom backward that returns too many gradients always refused?",
    matters=(
        "A backward written for another list of inputs returns its gradients in the wrong places. One that is too long "
        "is refused or silently accepted at random, since the check reads past its list: the first ones are used, "
        "whatever they belong to. A test that passed says nothing about the next run."
    ),
    harm=Harm.WRONG,
    symptom=(
        "RuntimeError: Input is not tensor, but gradient is not none, position: 2, in some runs and not in others; "
        "wrong gradients after an input was removed from a custom function"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "End a custom backward with a check of its own: assert len(gradients) == len(ctx.needs_input_grad), the "
            "number of inputs that forward was given; return None for what needs no gradient."
        ),
        cost="one comparison per backward",
    ),
    groups=("function",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "mindspore/common/_grad_function.py: _Function",
        "mindspore/ccsrc/pynative/backward/hook/function_py.cc",
    ),
    counterproof=counterproof,
)
