"""copy.deepcopy(tensor) shares its memory with the original."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Deep-copy Tensors on their own and in a dict, write to the original, and read the copy."""
    import copy

    from ms_compat.probing.tensors import WRITTEN, listing, numbers
    from ms_compat.probing.workloads import tensor

    def alone(x: Any) -> Any:
        return copy.deepcopy(x)

    def in_a_dict(x: Any) -> Any:
        return copy.deepcopy({"x": x})["x"]

    following = []
    for name, take in {"a Tensor": alone, "a dict of Tensors": in_a_dict}.items():
        original = tensor(1.0, 2.0)
        copied = take(original)
        original.copy_(tensor(WRITTEN, WRITTEN))
        if WRITTEN not in numbers(original):
            raise RuntimeError("copy_ into a whole Tensor did not arrive")
        if WRITTEN in numbers(copied):
            following.append(name)
    return Finding(
        not following,
        f"a write to the original shows in {len(following)} of 2 kinds of deep copy ({listing(following)})",
        {"following": listing(following)},
    )


def counterproof() -> None:
    """Copy the memory."""
    import mindspore

    mindspore.Tensor.__deepcopy__ = lambda self, _: self.copy()


FEATURE = Feature(
    name="deepcopy_is_independent",
    question="Is copy.deepcopy of a Tensor independent of the original?",
    matters=(
        "A snapshot of the best state, of optimizer moments or of buffers that are plain Tensors is no snapshot: later "
        "in-place writes change it too, and restoring it restores nothing. A Parameter is copied."
    ),
    harm=Harm.WRONG,
    symptom="copy.deepcopy(tensor) changes when the original is written to; a saved best state equals the last one",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Call tensor.copy(); for a dict {name: value.copy() for name, value in state.items()}.",
        cost="none beyond the copy that was meant",
    ),
    groups=("inplace", "parameters"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/common/tensor.py: Tensor.__deepcopy__",),
    counterproof=counterproof,
)
