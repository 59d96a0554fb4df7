"""What copy_ writes into a slice, a row or a transposed view of a Tensor arrives nowhere, on CPU."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Copy into views that begin inside a Tensor or are not contiguous, and read the Tensor."""
    from mindspore import mint

    from ms_compat.probing.tensors import WRITTEN, listing, lost_writes
    from ms_compat.probing.workloads import tensor, wake_numpy

    wake_numpy()
    # No view that begins where the Tensor begins and is smaller: from 2.8 that raises, later and somewhere else.
    views = {
        "narrow": lambda t: t.narrow(0, 1, 2),
        "t[1:3]": lambda t: t[1:3],
        "t[2]": lambda t: t[2],
        "t[:, 1]": lambda t: t[:, 1],
        "chunk": lambda t: mint.chunk(t, 2, 0)[1],
        "split": lambda t: mint.split(t, 2, 0)[1],
        "select": lambda t: mint.select(t, 0, 1),
        "transpose": lambda t: mint.transpose(t, 0, 1),
    }
    lost = lost_writes(views, lambda view: view.copy_(tensor(WRITTEN).broadcast_to(view.shape).copy()))
    return Finding(
        not lost,
        f"copy_ into {len(lost)} of {len(views)} kinds of view does not arrive in the Tensor ({listing(lost)})",
        {"lost": listing(lost), "views": len(views)},
    )


def counterproof() -> None:
    """Let copy_ write as an item assignment does."""
    import mindspore

    def copy_in_place(self: mindspore.Tensor, source: mindspore.Tensor, **_: object) -> mindspore.Tensor:
        self[:] = source
        return self

    mindspore.Tensor.copy_ = copy_in_place


FEATURE = Feature(
    name="narrow_copy_writes_through",
    question="Does copy_ into a slice, a row or a transposed view write into the Tensor it is a view of?",
    matters=(
        "Flat buffers are filled by slices: HyperParallel's checkpoint loader copies what it read into slices of the "
        "parameters. On CPU the copy goes to a temporary that nobody sees, not even the view itself, so the "
        "parameters keep their random values and no error is raised."
    ),
    harm=Harm.WRONG,
    symptom=(
        "t.narrow(0, 1, 2).copy_(v) or t[1:3].copy_(v) leaves t unchanged on CPU; a loaded checkpoint has no effect; "
        "WARNING: Tensor on CPU with storage_offset 4 and is_contiguous: 1 cannot use CPU inplace copy normally; "
        "For 'InplaceCopy, an unexpected kernel has been launched, but got dst(type: f, mem_size: ...)"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.write_",
        action=(
            "Call ms_compat.write_(view, value), or assign: t[1:3] = v writes. The call is not recorded: no gradient "
            "flows through it."
        ),
        cost="nothing but the check of the view",
    ),
    groups=("views", "inplace"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/common/tensor.py: Tensor.copy_",
        "hyper_parallel/core/checkpoint/standard_planner.py: dest_slice.copy_(tensor)",
    ),
    counterproof=counterproof,
)
