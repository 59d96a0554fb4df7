"""The size an alias of a Tensor reports after the storage they share was resized."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_ELEMENTS = 8


def probe() -> Finding:
    """Resize the storage of a Tensor to nothing and back, and ask a view of it each time."""
    from ms_compat.probing.tensors import tensor_method
    from ms_compat.probing.workloads import drain, tensor, wake_numpy

    tensor_method("untyped_storage")
    wake_numpy()
    x = tensor(*[1.0] * _ELEMENTS)
    view = x.view(2, -1)
    drain()
    full = x.untyped_storage().size()
    if view.untyped_storage().size() != full:
        raise RuntimeError("the view does not even begin with the storage size of the Tensor")
    x.untyped_storage().resize_(0)
    own, alias = x.untyped_storage().size(), view.untyped_storage().size()
    x.untyped_storage().resize_(full)
    restored = view.untyped_storage().size()
    if own != 0:
        raise RuntimeError(f"resize_(0) leaves {own} bytes in the Tensor it was called on")
    return Finding(
        alias == 0 and restored == full,
        f"after resize_(0) the storage of a view reports {alias} bytes (right: 0), and {restored} after it was "
        f"resized to {full} again",
        {"alias_bytes": alias, "restored_alias_bytes": restored, "full_bytes": full},
    )


FEATURE = Feature(
    name="storage_resize_updates_aliases",
    question="Does a view notice that the storage it shares was resized?",
    matters=(
        "Fully sharded training and activation swap free a parameter or activation with "
        "untyped_storage().resize_(0) and decide by size() == 0 what has to be fetched again. Below 2.9 an alias still "
        "reports the old size, so the freed memory is read instead of fetched."
    ),
    harm=Harm.WRONG,
    symptom="stale values or a crash after untyped_storage().resize_(0); size() of a view is not 0 on 2.7 and 2.8",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Ask and resize through one and the same Tensor, keep a flag of your own for what is freed, and take views "
            "anew after the storage was filled again."
        ),
        cost="one flag per tensor",
        remove_when=">=2.9",
    ),
    groups=("storage", "views"),
    spans=(Span(">=2.7.2,<2.9", False, device="CPU"), Span(">=2.9,<2.11", True, device="CPU")),
    references=(
        "mindspore.Tensor.untyped_storage (native)",
        "hyper_parallel/platform/mindspore/activation_checkpoint/activation_swap.py: untyped_storage().size() == 0",
    ),
)
