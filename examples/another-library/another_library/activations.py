"""Activations that follow the plan."""

from __future__ import annotations

import math
from typing import Any

from ms_compat import features


def gelu(x: Any) -> Any:
    """The exact gelu of a floating-point Tensor, of any shape."""
    from mindspore import mint, ops

    if features.get("mint_gelu_runs", if_unknown=False):
        return mint.nn.functional.gelu(x)
    return x * 0.5 * (ops.erf(x * math.sqrt(0.5)) + 1.0)
