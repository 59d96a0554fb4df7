"""_pynative_executor.grad got an argument inserted before the inputs in 2.9."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """See where Python puts the fifth positional argument, which was the first input up to 2.8."""
    import inspect as signatures

    from ms_compat.moved import pynative_executor

    call = signatures.signature(pynative_executor().grad)
    bound = call.bind("function", "operation", "weights", "position", "first input").arguments
    name = next(name for name, given in bound.items() if given in {"first input", ("first input",)})
    star = call.parameters[name].kind is signatures.Parameter.VAR_POSITIONAL
    return Finding(
        star,
        f"the first input of _pynative_executor.grad arrives as {'*' if star else ''}{name}",
        {"arrives_as": name},
    )


def inspect() -> Finding:
    """The same look: no operation is launched by it."""
    return probe()


FEATURE = Feature(
    name="executor_grad_arguments_stable",
    question="Does _pynative_executor.grad take the inputs right after grad_position?",
    matters=(
        "Training frameworks call it with everything by position. From 2.9 the first input is taken for has_aux: it "
        "counts as true or raises, and the other inputs move up by one."
    ),
    harm=Harm.FAILS,
    symptom="TypeError or a wrong number of gradients from _pynative_executor.grad after an update to 2.9",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Call mindspore.value_and_grad instead. Where it has to be the executor, pass has_aux=False by name on "
            "releases whose signature has it, and no input by position before it."
        ),
        cost="none",
    ),
    groups=("tape", "moved_names"),
    spans=(Span(">=2.7.2,<2.9", True), Span(">=2.9,<2.11", False)),
    references=("mindspore/graph/api.py: _PyNativeExecutor.grad", "mindspore/common/api.py: _PyNativeExecutor.grad"),
    inspect=inspect,
)
