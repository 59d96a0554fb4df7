"""A Cell that is put into another one gets new names for its parameters."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Wrap a layer, and load what was saved of it before."""
    import mindspore
    from mindspore import nn

    from ms_compat.probing.names import weight_file

    class Wrapper(nn.Cell):  # type: ignore[misc]
        def __init__(self, network: Any) -> None:
            super().__init__()
            self.network = network

    layer = nn.Dense(1, 1, has_bias=False)
    before = layer.weight.name
    with weight_file("layer.ckpt") as path:
        mindspore.save_checkpoint(layer, path)
        Wrapper(layer)
        after = layer.weight.name
        not_loaded, _ = mindspore.load_param_into_net(layer, mindspore.load_checkpoint(path), strict_load=True)
    return Finding(
        before == after and not not_loaded,
        f"a layer's weight is called {before!r} before and {after!r} after the layer is wrapped, and of a file saved "
        f"before {len(not_loaded)} parameters are not found",
        {"name_before": before, "name_after": after, "not_loaded": len(not_loaded)},
    )


def counterproof() -> None:
    """Leave the names alone when a Cell gets another one."""
    from mindspore import nn

    def leave(self: Any, prefix: str = "", recurse: bool = True) -> None:
        del self, prefix, recurse

    nn.Cell.update_parameters_name = leave


FEATURE = Feature(
    name="wrapping_keeps_parameter_names",
    question="Do the parameters of a Cell keep their names when it is put into another Cell?",
    matters=(
        "The name belongs to the Parameter and the outer Cell writes its prefix into it. What was saved of a network "
        "before it was wrapped in a loss, an average or a parallel wrapper is not found under the new names, and an "
        "optimizer that was made before and one made after name their states differently. load_param_into_net tries "
        "to mend it by cutting off a prefix, but not with strict_load=True and not for an optimizer's state."
    ),
    harm=Harm.FAILS,
    symptom="parameters in the 'net' are not loaded, because they are not in the 'parameter_dict' (once it is wrapped)",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Wrap first and save, load and build the optimizer afterwards, or make the wrapper with "
            "super().__init__(auto_prefix=False). net.state_dict() and load_state_dict() go by attributes and do not "
            "change."
        ),
        cost="with auto_prefix=False two wrapped networks must not have parameters of the same name",
    ),
    groups=("parameters", "checkpoint_files"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/nn/cell.py: Cell.update_parameters_name",),
    counterproof=counterproof,
)
