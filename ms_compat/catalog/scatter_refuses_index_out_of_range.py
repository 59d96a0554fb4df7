"""scatter to an index that is not there."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Scatter to index 5 of two elements, and gather from it as the control."""
    from mindspore import Tensor, ops

    from ms_compat.probing.workloads import drain, first_line, tensor

    beyond = Tensor([5])

    def said_by(function: Any) -> str | None:
        try:
            function()
            drain()
        except RuntimeError as error:
            return first_line(error)
        return None

    if said_by(lambda: ops.gather_elements(tensor(1.0, 2.0), 0, beyond)) is None:
        raise RuntimeError("gather_elements does not refuse the index either")
    if said_by(lambda: ops.scatter(tensor(1.0, 2.0), 0, Tensor([1]), tensor(9.0))) is not None:
        raise RuntimeError("scatter refuses a good index")
    said = said_by(lambda: ops.scatter(tensor(1.0, 2.0), 0, beyond, tensor(9.0)))
    return Finding(
        said is not None,
        f"on CPU scatter to index 5 of 2 {'raises' if said else 'is silently dropped'}; gather_elements raises",
        {"error": said},
    )


def counterproof() -> None:
    """Look at the indices first."""
    from mindspore import ops

    original = ops.scatter

    def scatter(x: Any, axis: int, index: Any, source: Any) -> Any:
        if int(index.max()) >= x.shape[axis]:
            raise RuntimeError("scatter: index out of range")
        return original(x, axis, index, source)

    ops.scatter = scatter


FEATURE = Feature(
    name="scatter_refuses_index_out_of_range",
    question="Does scatter refuse an index that is out of range?",
    matters=(
        "ops.scatter, Tensor.scatter and ops.tensor_scatter_elements silently drop what goes to an index out of range "
        "on CPU, where torch raises. An off-by-one in a routing table or a label shows up as missing values instead "
        "of an error."
    ),
    harm=Harm.WRONG,
    symptom="values are missing after scatter, with no error, on CPU",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Check the indices first: assert int(index.max()) < x.shape[dim], or use ops.tensor_scatter_add, which "
            "raises."
        ),
        cost="one reduction and one wait per check",
    ),
    groups=(
        "operators",
        "errors",
    ),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/ops/function/array_func.py: scatter",),
    counterproof=counterproof,
)
