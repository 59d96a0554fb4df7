"""Saved-tensor hooks installed in one thread, seen from a thread that starts inside them."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Install hooks here and count what a forward in a worker thread hands to them."""
    from mindspore import ops

    from ms_compat.probing.threads import in_a_worker
    from ms_compat.probing.workloads import drain, leaf, recording, saved_tensors_hooks

    packed: list[None] = []

    def pack(saved: Any) -> Any:
        packed.append(None)
        return saved

    def forward() -> bool:
        with recording():  # of its own: on 2.10 the caller's recording does not reach a worker thread either
            output = ops.exp(leaf(0.5))
            drain()
            return bool(output._requires_grad)

    with saved_tensors_hooks(pack):
        if not forward():
            raise RuntimeError("the forward was not recorded")
        here = len(packed)
        in_a_worker(forward)
    there = len(packed) - here
    if here == 0:
        raise RuntimeError("the hooks were not called in their own thread")
    return Finding(
        there == here,
        f"the hooks were called for {there} saved tensors of a worker thread's forward ({here} for the same here)",
        {"packed_in_worker": there, "packed_here": here},
    )


FEATURE = Feature(
    name="saved_tensors_hooks_cross_threads",
    question="Do saved-tensor hooks of one thread apply to a forward that it hands to a worker thread?",
    matters=(
        "2.10.0 made the hooks one stack per thread. Activation offload or swap that is switched on round a whole step "
        "does nothing for the part of the forward that runs in a worker thread: its activations stay on the device, "
        "and a check made in a pack hook does not happen."
    ),
    harm=Harm.GROWS,
    symptom="activation swap or offload has no effect, and memory runs out, where worker threads run the forward",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Enter saved_tensors_hooks in the thread that runs the forward. Code that has to work below 2.10 as well "
            "must not enter them in the caller in addition, since both would apply there."
        ),
        cost="one context per worker thread and forward",
        missing="Use MindSpore >= 2.7.2: older releases have no saved_tensors_hooks.",
    ),
    groups=("threads", "saved_tensors"),
    spans=(Span(">=2.7.2,<2.10", True), Span(">=2.10,<2.11", False)),
    references=("mindspore/graph/api.py: saved_tensors_hooks",),
)
