"""Memory for the Parameters of a Cell that was made without any."""

from __future__ import annotations

from typing import Any

from ms_compat.registry import features

__all__ = ["to_empty"]


def to_empty(cell: Any, *, device: str | None = None, recurse: bool = True) -> Any:
    """Give every Parameter of a Cell memory on a device, without initial values; like 2.10's ``Cell.to_empty``.

    Args:
        cell: the Cell, usually made under ``mindspore.DeviceCtx("meta")``.
        device: ``"CPU"`` or ``"Ascend"``; None takes the device target.
        recurse: whether the Cells inside it are included.

    Returns:
        The Cell. Its Parameters are the same objects as before.
    """
    if features.get("cell_to_empty", if_unknown=False):
        return cell.to_empty(device=device, recurse=recurse)
    from mindspore import get_context, mint

    # Without one, 2.7 looks for an Ascend even where there is none.
    device = device or get_context("device_target")
    for parameter in cell.get_parameters(expand=recurse):
        parameter.set_data(mint.empty(parameter.shape, dtype=parameter.dtype, device=device))
    return cell
