"""untyped_storage(): memory that is given up and taken again under a living Tensor."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Empty the storage of a Tensor, size it again, copy another one's into it and read the Tensor."""
    from ms_compat.probing.tensors import numbers
    from ms_compat.probing.workloads import drain, tensor

    kept, other = tensor(1.0, 2.0), tensor(3.0, 4.0)
    if not hasattr(kept, "untyped_storage"):
        raise ApiMissing("mindspore.Tensor.untyped_storage")
    storage = kept.untyped_storage()
    whole = storage.size()
    storage.resize_(0)
    drain()
    emptied = storage.size()
    storage.resize_(whole)
    storage.copy_(other.untyped_storage())
    drain()
    has_place = storage.data_ptr() != 0
    found = numbers(kept)
    return Finding(
        emptied == 0 and storage.size() == whole and has_place and found == [3.0, 4.0],
        f"a storage of {whole} bytes has {emptied} when it is emptied and {storage.size()} when it is sized again; its "
        f"Tensor then reads {found} where [3.0, 4.0] was copied in",
        {"bytes": whole, "bytes_emptied": emptied, "bytes_again": storage.size(), "first_value": found[0]},
    )


def counterproof() -> None:
    """Keep the memory, whatever size is asked for."""
    import mindspore

    original = mindspore.Tensor.untyped_storage

    class Kept:
        def __init__(self, storage: Any) -> None:
            self._storage = storage

        def __getattr__(self, name: str) -> Any:
            return getattr(self._storage, name)

        def resize_(self, _: int) -> None:
            pass

        def copy_(self, other: Kept) -> None:
            self._storage.copy_(other._storage)

    mindspore.Tensor.untyped_storage = lambda self: Kept(original(self))


FEATURE = Feature(
    name="storage_is_freed_and_refilled",
    question="Can a Tensor's storage be emptied with resize_(0), sized again and refilled, the Tensor living on?",
    matters=(
        "Fully sharded data parallelism frees a gathered parameter after its layer and fills it again for the "
        "backward; activation swap does the same. Its type is called StoragePy on 2.7 and UntypedStorage from 2.8 on."
    ),
    harm=Harm.FAILS,
    symptom="memory does not go down after a layer was resharded; AttributeError: untyped_storage",
    probe=probe,
    remedy=Remedy(
        path=Path.ERROR,
        action="Keep the parameters gathered (no resharding after the forward), or use MindSpore >= 2.7.2.",
        cost="the memory of all gathered parameters",
    ),
    groups=("storage", "memory"),
    spans=(Span(">=2.7.2,<2.11", True, device="CPU"),),
    references=(
        "mindspore.Tensor.untyped_storage (native)",
        "hyper_parallel/platform/mindspore/fully_shard/param.py",
    ),
    counterproof=counterproof,
)
