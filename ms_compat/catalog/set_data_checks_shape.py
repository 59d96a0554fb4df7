"""Parameter.set_data takes data of another shape although its slice_shape argument says that it would not."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Set data of another shape, with and without as many dimensions."""
    import mindspore

    from ms_compat.probing.tensors import listing
    from ms_compat.probing.workloads import tensor, wake_numpy

    wake_numpy()
    accepted = []
    for shape in ((1,), (3,), (2, 2), ()):
        parameter = mindspore.Parameter(tensor(1.0, 2.0), name="p")
        data = mindspore.Tensor(1.0, mindspore.float32).broadcast_to(shape)
        try:
            parameter.set_data(data)
        except ValueError:
            continue
        accepted.append(str(shape))
    return Finding(
        not accepted,
        f"a parameter of shape (2,) takes data of {len(accepted)} of 4 other shapes ({listing(accepted)})",
        {"accepted": listing(accepted)},
    )


def counterproof() -> None:
    """Refuse another shape."""
    import mindspore

    original = mindspore.Parameter.set_data

    def set_data(self: Any, data: Any, slice_shape: bool = False) -> Any:
        if not slice_shape and self.shape != data.shape:
            raise ValueError(f"the shape is {self.shape}, that of the data is {data.shape}")
        return original(self, data, slice_shape)

    mindspore.Parameter.set_data = set_data


FEATURE = Feature(
    name="set_data_checks_shape",
    question="Does Parameter.set_data refuse data of another shape unless slice_shape=True says that it may differ?",
    matters=(
        "A transposed weight, a shard for another rank or a bias of one element is taken without a word and the "
        "parameter changes its shape. Where the new shape broadcasts, the model runs and trains something else; "
        "optimizer states keep the old shape and fail later."
    ),
    harm=Harm.WRONG,
    symptom="a parameter has another shape after set_data; shapes do not match in the optimizer or a later operator",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Compare before: assert p.shape == data.shape, or fill it with ops.assign(p, data), which checks.",
        cost="none",
    ),
    groups=("parameters",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "mindspore/common/parameter.py: Parameter.set_data, its docstring on slice_shape",
        "mindformers/pynative/transformers/hyper_connection.py: bias.set_data",
    ),
    counterproof=counterproof,
)
