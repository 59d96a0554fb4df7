"""What several probes do with values, views and in-place writes of Tensors; and repairs of them for counterproofs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.moved import no_grad
from ms_compat.probing.workloads import drain, tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "WRITTEN",
    "assign_in_place",
    "count_writes",
    "counting",
    "listing",
    "lost_writes",
    "numbers",
    "repair_methods",
    "tensor_method",
]

#: What probes write; no other value they use is equal to it.
WRITTEN = 77.0


def numbers(values: Any) -> list[float]:
    """The values of a Tensor as a flat list, read when everything that writes to it has run."""
    drain()
    return [float(value) for value in values.asnumpy().reshape(-1)]


def counting(*shape: int) -> Any:
    """A float32 Tensor of a shape that counts from 0 on."""
    import math

    return tensor(*[float(value) for value in range(math.prod(shape))]).reshape(shape).copy()


def tensor_method(name: str) -> Any:
    """A method of Tensor, as the class has it.

    Raises:
        ApiMissing: this release has no such method.
    """
    import mindspore

    from ms_compat.feature import ApiMissing

    method = getattr(mindspore.Tensor, name, None)
    if method is None:
        raise ApiMissing(f"mindspore.Tensor.{name}")
    return method


def lost_writes(views: Mapping[str, Callable[[Any], Any]], write: Callable[[Any], object]) -> list[str]:
    """The views through which a write does not arrive in the Tensor they were taken of.

    Args:
        views: makes a view of a 4 x 4 Tensor that shares some of its memory, by name.
        write: writes `WRITTEN` somewhere into the view.
    """
    lost = []
    for name, view in views.items():
        base = counting(4, 4)
        write(view(base))
        if WRITTEN not in numbers(base):
            lost.append(name)
    return lost


def listing(names: Iterable[str]) -> str:
    """Names in one string, for a summary and flat evidence."""
    return ", ".join(names) or "none"


def assign_in_place() -> None:
    """Let every item assignment write into the memory the Tensor has, and count as a change of it.

    For counterproofs, in a process that ends afterwards; the gradient of an assignment is lost.
    """
    import mindspore

    original = mindspore.Tensor.__setitem__

    def assign(self: Any, index: Any, value: Any) -> None:
        with no_grad():
            changed = self.copy()
            original(changed, index, value)
            original(self, slice(None), changed)  # writes in place, also into a view that is not contiguous

    mindspore.Tensor.__setitem__ = assign


def count_writes() -> None:
    """Let item assignments, ``ops.assign`` and ``ops.assign_add`` write with copy_, the one write that is counted.

    For counterproofs, in a process that ends afterwards.
    """
    import mindspore
    from mindspore import ops

    original = mindspore.Tensor.__setitem__

    def assign(self: Any, index: Any, value: Any) -> None:
        changed = self.copy()
        original(changed, index, value)
        self.copy_(changed)

    mindspore.Tensor.__setitem__ = assign
    ops.assign = lambda target, value: target.copy_(value)
    ops.assign_add = lambda target, value: target.copy_(ops.add(target, value))


def repair_methods(*names: str) -> None:
    """Let methods that return what they should have written write it.

    For counterproofs, in a process that ends afterwards.
    """
    import mindspore

    def repaired(original: Any) -> Any:
        def method(self: Any, *arguments: Any, **options: Any) -> Any:
            self.copy_(original(self, *arguments, **options))
            return self

        return method

    for name in names:
        setattr(mindspore.Tensor, name, repaired(getattr(mindspore.Tensor, name)))
