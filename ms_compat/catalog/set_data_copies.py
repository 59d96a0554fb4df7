"""Parameter.set_data shares memory with what it is given."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Set the data of one parameter to another one, change the second as an optimizer does, and read the first."""
    import mindspore
    from mindspore import ops

    from ms_compat.probing.tensors import WRITTEN, numbers
    from ms_compat.probing.workloads import tensor

    target, source = (mindspore.Parameter(tensor(value), name="p") for value in (0.0, 1.0))
    target.set_data(source)
    ops.assign(source, tensor(WRITTEN))
    (written,), (found,) = numbers(source), numbers(target)
    if written != WRITTEN:
        raise RuntimeError("ops.assign did not change the parameter")
    return Finding(
        found == 1.0,
        f"a parameter set to another one of 1 holds {found:g} after the other one became {written:g}",
        {"found": found, "right": 1.0, "written_to_source": written},
    )


def counterproof() -> None:
    """Hand set_data a copy."""
    import mindspore

    original = mindspore.Parameter.set_data

    def set_data(self: Any, data: Any, *rest: Any, **options: Any) -> Any:
        return original(self, data.copy() if isinstance(data, mindspore.Tensor) else data, *rest, **options)

    mindspore.Parameter.set_data = set_data


FEATURE = Feature(
    name="set_data_copies",
    question="Is a parameter independent of the one it was filled from with set_data?",
    matters=(
        "A target network, a moving average, a reference model or a second replica that is filled from the model in "
        "training follows every optimizer step, since both have one memory. It then never lags behind, and what is "
        "computed from the difference is zero."
    ),
    harm=Harm.WRONG,
    symptom="a target or reference network trains along with the policy: after p.set_data(q) updates of q change p",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Copy first, p.set_data(q.copy()), or write into the parameter's own memory: ops.assign(p, q).",
        cost="one copy of the parameters",
    ),
    groups=("parameters",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/common/parameter.py: Parameter.set_data, Parameter._update_tensor_data",),
    counterproof=counterproof,
)
