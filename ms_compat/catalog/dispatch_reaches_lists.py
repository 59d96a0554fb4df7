"""__ms_dispatch__, of a mode and of a Tensor subclass, for an operation that takes a list of Tensors."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_TRIES = 20


def probe() -> Finding:
    """Concatenate a list many times, since now and then one is seen, and a tuple as the control."""
    from mindspore import ops

    from ms_compat.probing.subclasses import seen_by

    if not all(seen_by(lambda x: ops.cat((x, x)), fallback=False).values()):
        raise RuntimeError("not even the concatenation of a tuple is dispatched")
    always: dict[str, bool] = {}
    for _ in range(_TRIES):
        for way, seen in seen_by(lambda x: ops.cat([x, x]), fallback=False).items():
            always[way] = always.get(way, True) and seen
    missed = [way for way, seen in always.items() if not seen]
    return Finding(
        not missed,
        f"the concatenation of a list is {'not ' if missed else ''}always seen by "
        f"{' and '.join(missed or always)}; that of a tuple is",
        {"always_seen_by_mode": always["MsDispatchMode"], "always_seen_by_subclass": always["__ms_dispatch__"]},
    )


def counterproof() -> None:
    """Turn the list into a tuple before the operation is chosen."""
    from mindspore import ops

    original = ops.cat

    def cat(tensors: Any, axis: int = 0) -> Any:
        return original(tuple(tensors), axis)

    ops.cat = cat


FEATURE = Feature(
    name="dispatch_reaches_lists",
    question="Is __ms_dispatch__ called for an operation that takes a list of Tensors?",
    matters=(
        "HyperParallel's AsyncCollectiveTensor waits in __ms_dispatch__ before it is read, and selective checkpointing "
        "counts operations in a mode. ops.cat and mint.cat of a list silently pass both by: the concatenation reads "
        "memory that a collective is still writing to, and a replay can find another operation than was stored."
    ),
    harm=Harm.WRONG,
    symptom="wrong or changing values after concatenating the results of asynchronous collectives",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Give the operation a tuple of Tensors instead of a list: ops.cat((a, b)) is dispatched.",
        cost="none",
        missing="Use MindSpore >= 2.9: older releases have no MsDispatchMode.",
    ),
    groups=("dispatch", "subclasses"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/utils/ms_dispatch.py: MsDispatchMode", "hyper-parallel: AsyncCollectiveTensor"),
    counterproof=counterproof,
)
