"""Saved-tensor hooks installed in one thread, and what other threads save meanwhile."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Keep one thread inside hooks and count what a forward of this one hands to them."""
    from mindspore import ops

    from ms_compat.probing.threads import held_elsewhere
    from ms_compat.probing.workloads import drain, leaf, recording, saved_tensors_hooks

    packed: list[None] = []

    def pack(saved: Any) -> Any:
        packed.append(None)
        return saved

    with recording(), held_elsewhere(saved_tensors_hooks(pack)):
        output = ops.exp(leaf(0.5))
        drain()
        if not output._requires_grad:
            raise RuntimeError("the forward was not recorded")
    return Finding(
        not packed,
        f"hooks that another thread had entered were called for {len(packed)} saved tensors of this one",
        {"packed_by_another_thread": len(packed)},
    )


FEATURE = Feature(
    name="saved_tensors_hooks_stay_in_their_thread",
    question="Are saved-tensor hooks of one thread left out of what other threads save?",
    matters=(
        "Recompute, activation swap and offload are built on these hooks, and below 2.10 they are one stack for the "
        "process. While one thread is inside them they also get what another thread saves: its tensors are swapped "
        "out or dropped for a replay that does not make them, and the unpack hook hands back something else."
    ),
    harm=Harm.WRONG,
    symptom="recompute or activation swap fails or gives wrong gradients now and then when two threads run forwards",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Do not run a forward that is to be differentiated in one thread while another is inside "
            "saved_tensors_hooks or a recomputed block: hold one threading.Lock round both."
        ),
        cost="the forwards take turns",
        missing="Use MindSpore >= 2.7.2: older releases have no saved_tensors_hooks.",
        remove_when=">=2.10",
    ),
    groups=("threads", "saved_tensors", "recompute"),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=("mindspore/graph/api.py: saved_tensors_hooks",),
)
