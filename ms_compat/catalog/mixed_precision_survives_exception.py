"""An exception in the forward of a Cell with to_float leaves the process in half precision."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Raise in the forward of a half-precision Cell and look in what precision MindSpore computes after it."""
    import mindspore

    from ms_compat.probing.tape import Deliberate, computed_in, leaving_mixed_precision
    from ms_compat.probing.workloads import block, tensor

    def fail(_: Any) -> Any:
        raise Deliberate

    cell = block(fail).to_float(mindspore.float16)
    before = computed_in()
    with leaving_mixed_precision():
        try:
            cell(tensor(0.5))
        except Deliberate:
            after = computed_in()
    return Finding(
        after == before,
        f"after an exception in a float16 Cell, operators outside of it compute in {after} (before: {before})",
        {"before": before, "after": after},
    )


def counterproof() -> None:
    """Switch a Cell's precision off however its call ends."""
    from mindspore import nn
    from mindspore.nn.cell import MixedPrecisionType

    from ms_compat.moved import pynative_executor

    native = nn.Cell.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return native(self, *args, **kwargs)
        except BaseException:
            if self.mixed_precision_type is not None:
                pynative_executor().set_mixed_precision_type(MixedPrecisionType.NOTSET, False)
            raise

    nn.Cell.__call__ = call


FEATURE = Feature(
    name="mixed_precision_survives_exception",
    question="Does the precision of a Cell end when its forward raises?",
    matters=(
        "A notebook, a test suite, a server or a training loop that skips a bad batch goes on after an error. If the "
        "error came out of a Cell with to_float or O2, every operator of the process computes in half precision from "
        "then on: results lose three digits, and nothing says so."
    ),
    harm=Harm.WRONG,
    symptom=(
        "float32 tensors turn into float16 after a forward raised and the exception was caught; tests fail in another "
        "order than alone; accuracy drops after a skipped batch"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Do not go on in the same process after an exception in a Cell with to_float or O2. Where that cannot be "
            "helped, check the dtype of mindspore.ops.exp(mindspore.Tensor([0.5], mindspore.float32)) after it: while "
            "it is not Float32, call _pynative_executor.set_mixed_precision_type(MixedPrecisionType.NOTSET, False) "
            "(from mindspore.nn.cell import MixedPrecisionType), once for each Cell the exception passed, and never "
            "once more than that: it crashes."
        ),
        cost="one operator per exception that is caught",
    ),
    groups=("amp", "errors"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/nn/cell.py: Cell._complex_call, Cell._call_post_process",),
    counterproof=counterproof,
)
