"""load_param_into_net makes the network share the storage of what it was given."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Load one network's parameters into another one, change the first and read the second."""
    import mindspore
    from mindspore import nn

    from ms_compat.probing.workloads import parameter, tensor

    class Network(nn.Cell):  # type: ignore[misc]
        def __init__(self, value: float) -> None:
            super().__init__()
            self.weight = parameter(value)

    source, target = Network(1.0), Network(0.0)
    mindspore.load_param_into_net(target, source.parameters_dict())
    step = nn.SGD(source.trainable_params(), 1.0)
    step((tensor(0.25),))
    trained, loaded = float(source.weight.asnumpy()[0]), float(target.weight.asnumpy()[0])
    return Finding(
        trained == 0.75 and loaded == 1.0,
        f"a weight of 1.0 was loaded; the step that made the original {trained} left the loaded one at {loaded}",
        {"original_after_step": trained, "loaded_after_step": loaded, "right_loaded": 1.0},
    )


def counterproof() -> None:
    """Load copies."""
    import importlib

    module: Any = importlib.import_module("mindspore.train.serialization")
    original = module._update_param

    def update_param(param: Any, new_param: Any, strict_load: bool) -> None:
        original(param, new_param.clone(), strict_load)

    module._update_param = update_param


FEATURE = Feature(
    name="load_param_copies_values",
    question="Does load_param_into_net copy the values it loads?",
    matters=(
        "An average of the weights, a teacher, a second network or a snapshot in memory is filled with "
        "load_param_into_net(second, first.parameters_dict()). The two then share their storage: every optimizer step "
        "on the first also changes the second, so an average is no average and a snapshot no snapshot. Loading from a "
        "file is not affected as long as the dictionary is loaded into one network only."
    ),
    harm=Harm.WRONG,
    symptom=(
        "after load_param_into_net a second network changes when the first is trained; EMA weights equal the trained "
        "ones; going back to a snapshot of parameters_dict() has no effect"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Load copies: net.load_state_dict(other.state_dict()), or load_param_into_net(net, {name: "
            "mindspore.Parameter(value.copy(), name=name) for name, value in other.parameters_dict().items()}). Not "
            "value.clone(): the original keeps every clone alive."
        ),
        cost="the memory of the copy, which the result should have anyway",
    ),
    groups=("parameters", "checkpoint_files", "storage"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/train/serialization.py: _update_param", "mindspore/common/parameter.py: Parameter.set_data"),
    counterproof=counterproof,
)
