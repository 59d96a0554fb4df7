"""save_checkpoint writes the parameters of a network and not its buffers."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Save a network with a persistent buffer and load it into a new one."""
    import mindspore
    from mindspore import nn

    from ms_compat.probing.names import api, weight_file
    from ms_compat.probing.workloads import parameter, tensor

    api("mindspore.nn", "Cell", "register_buffer")

    class Network(nn.Cell):  # type: ignore[misc]
        def __init__(self, value: float) -> None:
            super().__init__()
            self.weight = parameter(value)
            self.register_buffer("mean", tensor(value))

    saved, loaded = Network(3.0), Network(0.0)
    with weight_file("network.ckpt") as path:
        mindspore.save_checkpoint(saved, path)
        values = mindspore.load_checkpoint(path)
    mindspore.load_param_into_net(loaded, values)
    weight, mean = float(loaded.weight.asnumpy()[0]), float(loaded.mean.asnumpy()[0])
    return Finding(
        (weight, mean) == (3.0, 3.0),
        f"a parameter and a buffer of 3.0 come back as {weight} and {mean} through save_checkpoint",
        {"parameter": weight, "buffer": mean, "right": 3.0, "buffer_in_file": "mean" in values},
    )


def counterproof() -> None:
    """Save and load what state_dict() names."""
    import mindspore

    from ms_compat.probing.names import save_by_attribute

    save_by_attribute()
    mindspore.load_param_into_net = lambda network, values: network.load_state_dict(values)


FEATURE = Feature(
    name="checkpoint_keeps_buffers",
    question="Does a checkpoint keep the buffers of a network?",
    matters=(
        "register_buffer(..., persistent=True) promises that a buffer is part of the state, and state_dict() has it. "
        "save_checkpoint writes parameters only and load_param_into_net fills parameters only, so running averages, "
        "expert biases or scales held in buffers start from their initial values after a restart, with no word said."
    ),
    harm=Harm.WRONG,
    symptom="buffers (register_buffer) have their initial values after load_checkpoint; the file does not name them",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Save [{'name': name, 'data': value} for name, value in net.state_dict().items()] with save_checkpoint and "
            "load with net.load_state_dict(load_checkpoint(path)). Or hold the value in a Parameter with "
            "requires_grad=False."
        ),
        cost="load_state_dict insists on the same names and shapes; older files have no buffers and need strict=False",
    ),
    groups=("checkpoint_files", "parameters"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/train/serialization.py: save_checkpoint", "mindspore/nn/cell.py: Cell.register_buffer"),
    counterproof=counterproof,
)
