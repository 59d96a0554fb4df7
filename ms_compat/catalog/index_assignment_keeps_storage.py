"""t[mask] = v and t[indices] = v give the Tensor new memory, so that views of it and writes through views miss it."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Assign with each kind of index through a view and to a Tensor that has one."""
    import mindspore

    from ms_compat.probing.tensors import WRITTEN, counting, listing, lost_writes, numbers
    from ms_compat.probing.workloads import wake_numpy

    wake_numpy()

    def by_mask(t: Any) -> None:
        t[t == 5] = WRITTEN

    def by_indices(t: Any) -> None:
        t[mindspore.Tensor([2], mindspore.int64)] = WRITTEN

    def by_list(t: Any) -> None:
        t[[2]] = WRITTEN

    def by_ellipsis(t: Any) -> None:
        t[...] = WRITTEN

    kinds = {"mask": by_mask, "index tensor": by_indices, "list": by_list, "...": by_ellipsis}
    lost, unseen = [], []
    for name, write in kinds.items():
        if lost_writes({name: lambda t: t.view(-1)}, write):
            lost.append(name)
        base = counting(4, 4)
        view = base.view(-1)
        write(base)
        if WRITTEN not in numbers(base):
            raise RuntimeError(f"an assignment by {name} did not even arrive in the Tensor itself")
        if WRITTEN not in numbers(view):
            unseen.append(name)
    return Finding(
        not lost and not unseen,
        f"of {len(kinds)} kinds of index {len(lost)} lose a write through a view ({listing(lost)}) and views do not "
        f"see it for {len(unseen)} ({listing(unseen)})",
        {"lost_through_view": listing(lost), "unseen_by_views": listing(unseen), "kinds": len(kinds)},
    )


def counterproof() -> None:
    """Assign in place."""
    from ms_compat.probing.tensors import assign_in_place

    assign_in_place()


FEATURE = Feature(
    name="index_assignment_keeps_storage",
    question="Does t[mask] = v, t[indices] = v and t[...] = v write into the memory that t and its views share?",
    matters=(
        "t.view(-1)[mask] = v, as a loss or a mixture-of-experts router masks a flattened tensor, changes nothing: "
        "the temporary view gets new memory and is thrown away. Assigned to t itself, t changes but every view taken "
        "before keeps the old values. Slices and integers write in place."
    ),
    harm=Harm.WRONG,
    symptom="x.view(-1)[mask] = 0 or x.data[index] = v has no effect; a view is out of date after x[mask] = v",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.write_",
        action=(
            "Compute the new values and write them: ms_compat.write_(view, ops.where(mask, v, view)). Inside no_grad "
            "view[:] = ops.where(mask, v, view) writes as well. The write is not recorded: where a gradient has to "
            "flow through it, go on with the result of ops.where."
        ),
        cost="the whole view is written, not only the elements of the mask",
    ),
    groups=("views", "inplace"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/common/tensor.py: Tensor._setitem_origin",
        "mindspore/ops/composite/multitype_ops/_compile_utils.py: _tensor_setitem_origin",
    ),
    counterproof=counterproof,
)
