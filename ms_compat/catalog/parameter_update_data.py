"""Parameter._update_data."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def inspect() -> Finding:
    """Look for the method."""
    from ms_compat.probing.tensors import tensor_method

    tensor_method("_update_data")
    return Finding(True, "Tensor has _update_data")


def probe() -> Finding:
    """Replace the data of a parameter with it."""
    import mindspore

    from ms_compat.probing.tensors import numbers, tensor_method
    from ms_compat.probing.workloads import tensor

    tensor_method("_update_data")
    parameter = mindspore.Parameter(tensor(1.0, 2.0), name="p")
    parameter._update_data(tensor(3.0, 4.0))
    found = numbers(parameter)
    return Finding(
        found == [3.0, 4.0] and parameter.name == "p",
        f"after _update_data with 3 and 4 the parameter {parameter.name} holds {found[0]:g} and {found[1]:g}",
        {"first": found[0], "second": found[1]},
    )


def counterproof() -> None:
    """Let it do nothing."""
    import mindspore

    mindspore.Tensor._update_data = lambda *_: None


FEATURE = Feature(
    name="parameter_update_data",
    question="Does _update_data replace the data of a Parameter and leave its name?",
    matters="HyperParallel's DTensor and its parameter loading call it on every parameter; 2.7.2 does not have it.",
    harm=Harm.MOVED,
    symptom="AttributeError: 'Parameter' object has no attribute '_update_data'",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Call parameter.assign_value(tensor) instead; it does the same on every release.",
        cost="none",
        remove_when=">=2.8",
    ),
    groups=("parameters", "moved_names"),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.11", True)),
    references=(
        "hyper_parallel/platform/mindspore/dtensor.py: set_data",
        "hyper_parallel/platform/mindspore/platform.py: param._update_data",
    ),
    counterproof=counterproof,
    inspect=inspect,
)
