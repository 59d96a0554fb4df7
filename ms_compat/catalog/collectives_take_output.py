"""Collectives of mindspore.ops.communication take the Tensor to write into; those of mindspore.communication do not."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_MODULE = "mindspore.ops.communication"
_CALLS = ("all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single")


def probe() -> Finding:
    """Bind a call with an output and an input to each signature; to run one, a group of processes is needed."""
    from ms_compat.probing.names import api, refusal

    refusals = [refusal(api(_MODULE, name), "output", "input", group=None, async_op=True) for name in _CALLS]
    refused = [refusal for refusal in refusals if refusal is not None]
    return Finding(
        not refused,
        f"{len(_CALLS) - len(refused)} of {len(_CALLS)} collectives take an output and an input",
        {"taken": len(_CALLS) - len(refused), "of": len(_CALLS), "refused": "; ".join(refused) or None},
    )


def counterproof() -> None:
    """Put those of mindspore.communication in their place."""
    import importlib

    place: Any = importlib.import_module(_MODULE)
    other: Any = importlib.import_module("mindspore.communication.comm_func")
    place.all_gather_into_tensor = other.all_gather_into_tensor
    place.reduce_scatter_tensor = other.reduce_scatter_tensor


FEATURE = Feature(
    name="collectives_take_output",
    question="Do the collectives of mindspore.ops.communication take an output Tensor, as torch's do?",
    matters=(
        "HyperParallel gathers into buffers it owns. The functions of the same names in "
        "mindspore.communication.comm_func return their result instead, on every release: imported from the wrong "
        "place, the buffer is taken for the input and the input for the group."
    ),
    harm=Harm.FAILS,
    symptom="TypeError: all_gather_into_tensor() got multiple values for argument 'group'",
    probe=probe,
    remedy=Remedy(
        path=Path.ERROR,
        action=(
            "Call the function of the same name in mindspore.communication.comm_func and copy its result into the "
            "buffer."
        ),
        cost="a copy, and no overlap with what writes the buffer",
    ),
    groups=("communication", "moved_names"),
    spans=(Span(">=2.7.2,<2.11", True),),
    references=("mindspore/ops/communication.py", "mindspore/communication/comm_func.py"),
    counterproof=counterproof,
)
