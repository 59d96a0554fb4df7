"""x[0] = value inside a jitted function, and the caller's Tensor."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Assign to an item of an argument, in a jitted function and in an ordinary one."""
    import mindspore

    from ms_compat.probing.workloads import tensor

    def assign(x: Any) -> Any:
        x[0] = 5.0
        return x

    @mindspore.jit  # type: ignore[untyped-decorator, unused-ignore]
    def assign_compiled(x: Any) -> Any:
        x[0] = 5.0
        return x

    ordinary, compiled = tensor(1.0, 2.0), tensor(1.0, 2.0)
    assign(ordinary)
    returned = float(assign_compiled(compiled).asnumpy()[0])
    if float(ordinary.asnumpy()[0]) != 5.0 or returned != 5.0:
        raise RuntimeError("the assignment itself does not work")
    found = float(compiled.asnumpy()[0])
    return Finding(
        found == 5.0,
        f"an assignment to an item in a jitted function leaves {found:.1f} in the caller's Tensor (5.0 in eager code)",
        {"in_callers_tensor": found, "in_eager_code": 5.0},
    )


def counterproof() -> None:
    """Switch compilation off."""
    from ms_compat.probing.compiled import switch_jit_off

    switch_jit_off()


FEATURE = Feature(
    name="jit_item_assignment_reaches_argument",
    question="Does an assignment to an item inside a jitted function reach the caller's Tensor?",
    matters=(
        "A function that fills a buffer, a cache of keys and values or a mask through tensor[i] = value does so in "
        "eager code. With @jit it changes a copy, and the caller's buffer silently keeps its old values."
    ),
    harm=Harm.WRONG,
    symptom="a cache or buffer stays as it was after a @jit function wrote to it by index",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Return the Tensor from the jitted function and use what it returned, or write with x.copy_(value).",
        cost="none",
    ),
    groups=("jit", "inplace"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/graph/api.py: jit", "mindspore/ops/composite/multitype_ops/setitem_impl.py"),
    counterproof=counterproof,
)
