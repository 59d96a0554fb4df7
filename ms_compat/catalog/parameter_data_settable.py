"""parameter.data = tensor."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Give a parameter other data and look whether it has the values and shares the memory."""
    import mindspore

    from ms_compat.probing.tensors import WRITTEN, numbers
    from ms_compat.probing.workloads import first_line, tensor

    parameter = mindspore.Parameter(tensor(1.0, 2.0), name="p")
    data = tensor(3.0, 4.0)
    try:
        parameter.data = data
    except AttributeError as error:
        return Finding(False, f"it raises: {first_line(error)}", {"error": first_line(error)})
    taken = numbers(parameter) == [3.0, 4.0]
    data[0] = WRITTEN
    shared = numbers(parameter) == [WRITTEN, 4.0]
    return Finding(
        taken and shared,
        f"the parameter {'has' if taken else 'does not have'} the values it was given and "
        f"{'shares' if shared else 'does not share'} their memory",
        {"error": None, "takes_values": taken, "shares_memory": shared},
    )


FEATURE = Feature(
    name="parameter_data_settable",
    question="Can parameter.data be set to another Tensor, and do they then share their memory?",
    matters=(
        "HyperParallel's fully_shard points parameters to slices of a gathered buffer this way, as torch code does. "
        "On 2.7.2 a Parameter's data has no setter."
    ),
    harm=Harm.FAILS,
    symptom="AttributeError: property 'data' of 'Parameter' object has no setter",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Call parameter.set_data(tensor), or parameter.assign_value(tensor): on every release both give the "
            "parameter the tensor's memory."
        ),
        cost="set_data casts to the parameter's dtype first, and then nothing is shared",
        remove_when=">=2.8",
    ),
    groups=("parameters",),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.11", True)),
    references=("mindspore/common/parameter.py: Parameter", "mindspore/common/tensor.py: Tensor.data"),
)
