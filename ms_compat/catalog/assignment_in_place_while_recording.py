"""While gradients are recorded, t[0] = v gives the Tensor new memory that its views do not share."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Assign an element through views of an operation's output, and to one that has a view, while recording."""
    from ms_compat.probing.tensors import WRITTEN, counting, listing, lost_writes, numbers
    from ms_compat.probing.workloads import recording, wake_numpy

    wake_numpy()

    def write(t: Any) -> None:
        t[0] = WRITTEN

    views = {
        "view": lambda t: t.view(-1),
        "reshape": lambda t: t.reshape(2, 8),
        "narrow": lambda t: t.narrow(0, 1, 2),
        "transpose": lambda t: t.transpose(0, 1),
        "t[1:3]": lambda t: t[1:3],
    }
    with recording(on=False):
        unrecorded = lost_writes(views, write)
    with recording():
        lost = lost_writes(views, write)
        base = counting(4, 4)
        view = base.view(-1)
        write(base)
        stale = WRITTEN not in numbers(view)
    return Finding(
        not (lost or stale),
        f"while recording, t[0] = v through {len(lost)} of {len(views)} kinds of view does not arrive in the Tensor "
        f"({listing(lost)}; not recording {len(unrecorded)}) and a view of it {'misses' if stale else 'sees'} a write "
        "to it",
        {
            "lost": listing(lost),
            "lost_when_not_recording": listing(unrecorded),
            "views": len(views),
            "view_misses_write_to_base": stale,
        },
    )


def counterproof() -> None:
    """Assign in place."""
    from ms_compat.probing.tensors import assign_in_place

    assign_in_place()


FEATURE = Feature(
    name="assignment_in_place_while_recording",
    question="Does t[0] = v through a view arrive in the Tensor it is a view of while gradients are recorded?",
    matters=(
        "The same line writes through the view when nothing is recorded and loses the write in a forward, so a test "
        "without gradients passes. The value of the forward is then wrong, and the gradient with it. HyperParallel "
        "switches recording on for the whole process, so there it holds for all code outside of no_grad."
    ),
    harm=Harm.WRONG,
    symptom=(
        "y.view(-1)[0] = v inside a forward has no effect; a view made before y[0] = v keeps the old values; the "
        "result differs with and without gradients"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "In a forward assign to the Tensor itself, not to view(), reshape(), narrow() or transpose() of it, and "
            "take views after the assignment. Where no gradient is needed assign inside no_grad: there it writes "
            "through."
        ),
        cost="none",
    ),
    groups=("views", "inplace", "tape"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/common/tensor.py: Tensor._setitem_origin",
        "hyper_parallel/platform/mindspore/autograd_compat.py: set_grad_flag(True) at import",
    ),
    counterproof=counterproof,
)
