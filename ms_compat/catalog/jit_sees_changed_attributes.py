"""Attributes of a cell that change after its jitted construct was compiled."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Change a number, a switch and a Parameter of a cell that has run, and run it again."""
    import mindspore
    from mindspore import nn, ops

    from ms_compat.probing.workloads import tensor

    class Scale(nn.Cell):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.factor = 2.0
            self.doubled = False
            self.weight = mindspore.Parameter(tensor(1.0), name="weight")

        @mindspore.jit  # type: ignore[untyped-decorator, unused-ignore]
        def construct(self, x: Any) -> Any:
            scaled = ops.mul(ops.mul(x, self.weight), self.factor)
            if self.doubled:
                scaled = ops.mul(scaled, 2.0)
            return scaled

    changes = {
        "number": ("factor", 20.0, 20.0),
        "switch": ("doubled", True, 4.0),
        "parameter": ("weight", mindspore.Parameter(tensor(30.0), name="weight"), 60.0),
    }
    missed = []
    for kind, (attribute, value, right) in changes.items():
        cell = Scale()
        before = float(cell(tensor(1.0)).asnumpy()[0])
        setattr(cell, attribute, value)
        after = float(cell(tensor(1.0)).asnumpy()[0])
        if before != 2.0 or after not in (before, right):
            raise RuntimeError(f"the jitted cell gives {before} and then {after}")
        if after != right:
            missed.append(kind)
    return Finding(
        not missed,
        f"{len(missed)} of {len(changes)} changes of an attribute have no effect on a jitted cell"
        + (f": {', '.join(missed)}" if missed else ""),
        {"missed": ", ".join(missed), "changes": len(changes)},
    )


def counterproof() -> None:
    """Switch compilation off."""
    from ms_compat.probing.compiled import switch_jit_off

    switch_jit_off()


FEATURE = Feature(
    name="jit_sees_changed_attributes",
    question="Does a jitted cell that has run see when an attribute of it changes?",
    matters=(
        "A compiled construct keeps the numbers, switches, lists and Tensors that it read from the cell or from "
        "global names when it was compiled. A temperature, a schedule, a flag or a replaced Parameter that changes "
        "later is silently ignored, where eager code follows. Only set_train is followed."
    ),
    harm=Harm.WRONG,
    symptom="changing a hyperparameter or replacing a Parameter of a @jit network has no effect",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Pass what changes as an argument of the jitted function, or keep it in a Parameter and write it with "
            "copy_ or ops.assign."
        ),
        cost="a number that is passed as an argument compiles the function once for each value; pass it as a Tensor",
    ),
    groups=("jit",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/graph/api.py: jit", "mindspore/common/api.py: jit (2.8 and older)"),
    counterproof=counterproof,
)
