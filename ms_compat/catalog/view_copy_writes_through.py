"""What copy_ writes into a view of a whole Tensor, on CPU."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Copy into views that hold a Tensor's elements in their order under another shape, and read the Tensor."""
    from ms_compat.probing.tensors import WRITTEN, listing, lost_writes
    from ms_compat.probing.workloads import tensor, wake_numpy

    wake_numpy()
    views = {
        "view": lambda t: t.view(-1),
        "reshape": lambda t: t.reshape(2, 8),
        "flatten": lambda t: t.flatten(),
        "unsqueeze": lambda t: t.unsqueeze(0),
        "t[:]": lambda t: t[:],
    }
    lost = lost_writes(views, lambda view: view.copy_(tensor(WRITTEN).broadcast_to(view.shape).copy()))
    return Finding(
        not lost,
        f"copy_ into {len(lost)} of {len(views)} kinds of view does not arrive in the Tensor ({listing(lost)})",
        {"lost": listing(lost), "views": len(views)},
    )


FEATURE = Feature(
    name="view_copy_writes_through",
    question="Does copy_ into view(...), reshape(...) or flatten() write into the Tensor it is a view of?",
    matters=(
        "Whoever fills a parameter through a flattened view of it (flat buffers, fused optimizers, checkpoint "
        "loaders) has the write dropped on CPU by 2.7.2, without an error."
    ),
    harm=Harm.WRONG,
    symptom="t.view(-1).copy_(v) leaves t unchanged on CPU",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.write_",
        action=(
            "Call ms_compat.write_(view, value); inside no_grad t.view(-1)[:] = v writes as well. The call is not "
            "recorded: no gradient flows through it."
        ),
        cost="nothing but the check of the view",
        remove_when=">=2.8",
    ),
    groups=("views", "inplace"),
    spans=(Span(">=2.7.2,<2.8", False, device="CPU"), Span(">=2.8,<2.11", True, device="CPU")),
    references=("mindspore/common/tensor.py: Tensor.copy_",),
)
