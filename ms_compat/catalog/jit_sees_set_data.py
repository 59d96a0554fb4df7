"""Parameter.set_data after a jitted function was compiled, as load_param_into_net calls it."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_LOADED = 10.0
_COPIED = 20.0


def probe() -> Finding:
    """Run a jitted cell, set its Parameter, and run it again; copy_ is the control."""
    import mindspore
    from mindspore import nn, ops

    from ms_compat.probing.workloads import tensor

    class Scale(nn.Cell):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = mindspore.Parameter(tensor(3.0), name="weight")

        @mindspore.jit  # type: ignore[untyped-decorator, unused-ignore]
        def construct(self, x: Any) -> Any:
            return ops.mul(x, self.weight)

    cell = Scale()
    one = tensor(1.0)
    if float(cell(one).asnumpy()[0]) != 3.0:
        raise RuntimeError("the jitted cell is wrong from the start")
    cell.weight.set_data(tensor(_LOADED))
    found = float(cell(one).asnumpy()[0])
    other = Scale()
    other(one)
    other.weight.copy_(tensor(_COPIED))
    copied = float(other(one).asnumpy()[0])
    if copied != _COPIED:
        raise RuntimeError(f"after copy_ the jitted cell gives {copied} instead of {_COPIED}")
    return Finding(
        found == _LOADED,
        f"after set_data the jitted cell gives {found:.1f} (right: {_LOADED:.1f}); after copy_ it is right",
        {"after_set_data": found, "right": _LOADED, "after_copy": copied},
    )


def counterproof() -> None:
    """Let set_data write into the memory that is there."""
    import mindspore

    def set_data(self: Any, data: Any, slice_shape: bool = False) -> Any:  # noqa: ARG001 - MindSpore's signature
        self.copy_(data)
        return self

    mindspore.Parameter.set_data = set_data


FEATURE = Feature(
    name="jit_sees_set_data",
    question="Does a jitted function that has run see what Parameter.set_data puts in?",
    matters=(
        "load_param_into_net, Cell.load_state_dict, Parameter.assign_value and set_data give a Parameter other memory. "
        "A jitted function that ran before silently goes on with the old memory: a checkpoint that is loaded after the "
        "first step or after an evaluation has no effect there, while eager code and asnumpy() show the new values."
    ),
    harm=Harm.WRONG,
    symptom="after loading a checkpoint or an averaged model the results of a @jit network do not change",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Load parameters before the first call of a jitted function; afterwards write with parameter.copy_(value) "
            "or mindspore.ops.assign(parameter, value), which it sees."
        ),
        cost="a copy into the memory that is there; shapes and types must agree",
    ),
    groups=("jit", "parameters", "checkpoint_files"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/common/parameter.py: Parameter.set_data", "mindspore/train/serialization.py"),
    counterproof=counterproof,
)
