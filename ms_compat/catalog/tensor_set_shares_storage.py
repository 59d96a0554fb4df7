"""Tensor.set_: a Tensor that uses a part of another one's storage."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def inspect() -> Finding:
    """Look for the method."""
    from ms_compat.probing.tensors import tensor_method

    tensor_method("set_")
    return Finding(True, "Tensor has set_")


def probe() -> Finding:
    """Point a Tensor to four elements in the middle of a storage and write to both sides."""
    from ms_compat.probing.tensors import WRITTEN, counting, numbers, tensor_method
    from ms_compat.probing.workloads import drain, tensor, wake_numpy

    tensor_method("set_")
    wake_numpy()
    buffer, part = counting(8), tensor(0.0)
    drain()
    part.set_(buffer.untyped_storage(), 2, (2, 2), (2, 1))
    placed = numbers(part) == [2.0, 3.0, 4.0, 5.0] and part.shape == (2, 2)
    buffer[2] = WRITTEN
    seen = numbers(part)[0] == WRITTEN
    part[1, 1] = -WRITTEN
    arrives = numbers(buffer)[5] == -WRITTEN
    return Finding(
        placed and seen and arrives,
        f"the Tensor {'has' if placed else 'does not have'} the elements it was pointed to, "
        f"{'sees' if seen else 'does not see'} a write to the storage, and a write to it "
        f"{'arrives' if arrives else 'does not arrive'} there",
        {"has_elements": placed, "sees_writes": seen, "writes_arrive": arrives},
    )


def counterproof() -> None:
    """Let it take a copy."""
    import mindspore

    original = mindspore.Tensor.set_

    def set_copy(self: Any, *arguments: Any) -> Any:
        original(self, *arguments)
        return original(self, self.copy())

    mindspore.Tensor.set_ = set_copy


FEATURE = Feature(
    name="tensor_set_shares_storage",
    question="Does Tensor.set_ make a Tensor share a part of another storage?",
    matters="Packed buffers hand out their parts with it (HyperParallel's packed optimizer swap); 2.7.2 has no set_.",
    harm=Harm.FAILS,
    symptom="AttributeError: 'Tensor' object has no attribute 'set_'",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Use views of one flat Tensor instead: flat[a:b].view(shape), and assign it with "
            "parameter.set_data(view), which shares its memory."
        ),
        cost="the buffer has one dtype",
        remove_when=">=2.8",
    ),
    groups=("storage", "views"),
    spans=(Span(">=2.7.2,<2.8", False, device="CPU"), Span(">=2.8,<2.11", True, device="CPU")),
    references=(
        "mindspore/common/tensor.py: Tensor.set_",
        "hyper_parallel/platform/mindspore/swap_optimizer/swap_optimizer.py",
    ),
    counterproof=counterproof,
    inspect=inspect,
)
