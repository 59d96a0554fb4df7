"""The mean over the ranks of a group, also where MindSpore's collectives have no average (`reduce_op_avg`)."""

from __future__ import annotations

from typing import Any

from ms_compat.registry import features
from ms_compat.shims.inplace import div_

__all__ = ["all_reduce_mean"]


class _Dividing:
    """The handle of a sum that is still to be divided."""

    def __init__(self, handle: Any, tensor: Any, ranks: int) -> None:
        self._handle = handle
        self._tensor = tensor
        self._ranks = ranks
        self._done = False

    def wait(self) -> None:
        """Wait for the sum and divide it, once."""
        self._handle.wait()
        if not self._done:
            self._done = True
            div_(self._tensor, self._ranks)


def all_reduce_mean(tensor: Any, group: str | None = None, *, async_op: bool = False) -> Any:
    """Replace a Tensor by its mean over all ranks of a group.

    Where ``ReduceOp.AVG`` is missing the sum is taken and then divided; in float16 the sum can overflow where the
    mean would not.

    Args:
        tensor: a Tensor of a floating-point dtype, of the same shape on all ranks; written in place.
        group: the group's name; None takes all ranks.
        async_op: return at once.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` makes the mean available.

    Raises:
        TypeError: the dtype is not a floating-point one.
    """
    from mindspore.mint import distributed

    if not tensor.is_floating_point():
        raise TypeError(f"all_reduce_mean: expected a floating-point Tensor, found {tensor.dtype}")
    if features.get("reduce_op_avg", if_unknown=False):
        return distributed.all_reduce(tensor, op="avg", group=group, async_op=async_op)
    handle = distributed.all_reduce(tensor, op="sum", group=group, async_op=async_op)
    ranks = distributed.get_world_size(group)
    if async_op:
        return _Dividing(handle, tensor, ranks)
    div_(tensor, ranks)
    return None
