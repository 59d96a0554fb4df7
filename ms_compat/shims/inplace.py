"""Writes that arrive: in the tensor itself, in what it is a view of, and in all other views of that.

On CPU, MindSpore's in-place arithmetic gives a new Tensor and changes nothing (`inplace_ops_mutate`), and `copy_`
into a view that begins further in is dropped (`narrow_copy_writes_through`). Assignment to a slice arrives always.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.moved import no_grad
from ms_compat.registry import features

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["add_", "div_", "mul_", "sub_", "write_"]


def write_(target: Any, value: Any) -> Any:
    """Write into a Tensor, as ``target.copy_(value)`` does where it works. Not recorded for a gradient.

    Args:
        target: the Tensor to write into; may be a Parameter, and a view of another Tensor.
        value: a Tensor or a number that broadcasts to the target's shape; it is cast to the target's dtype.

    Returns:
        The target.

    Raises:
        ValueError: the value's shape does not broadcast to the target's.
        RuntimeError: MindSpore has no kernel for the dtype; on CPU that is so for bfloat16.
    """
    from mindspore import Tensor

    shape = tuple(getattr(value, "shape", ()))
    if not _broadcasts(shape, tuple(target.shape)):
        raise ValueError(f"write_: expected a value that broadcasts to {tuple(target.shape)}, found shape {shape}")
    with no_grad():
        if isinstance(value, Tensor):
            # Evaluated before anything is written: the value may be another view of the target.
            value = value.astype(target.dtype).broadcast_to(target.shape) + 0
        if features.get("narrow_copy_writes_through", if_unknown=False) and isinstance(value, Tensor):
            target.copy_(value)
        elif target.ndim:
            target[:] = value
        else:
            target.view((1,))[:] = value
    return target


def _broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    if len(shape) > len(target):
        return False
    return all(here in (1, there) for here, there in zip(reversed(shape), reversed(target), strict=False))


def add_(target: Any, other: Any, *, alpha: float = 1) -> Any:
    """``target += alpha * other``, written into the target; see `write_`."""
    return _in_place(target, "add_", lambda: target + (other if alpha == 1 else other * alpha), other, alpha=alpha)


def sub_(target: Any, other: Any, *, alpha: float = 1) -> Any:
    """``target -= alpha * other``, written into the target; see `write_`."""
    return _in_place(target, "sub_", lambda: target - (other if alpha == 1 else other * alpha), other, alpha=alpha)


def mul_(target: Any, other: Any) -> Any:
    """``target *= other``, written into the target; see `write_`."""
    return _in_place(target, "mul_", lambda: target * other, other)


def div_(target: Any, other: Any) -> Any:
    """``target /= other``, written into the target; see `write_`."""
    return _in_place(target, "div_", lambda: target / other, other)


def _in_place(target: Any, method: str, compute: Callable[[], Any], other: Any, **options: float) -> Any:
    if features.get("inplace_ops_mutate", if_unknown=False):
        with no_grad():
            getattr(target, method)(other, **options)
        return target
    with no_grad():
        return write_(target, compute())
