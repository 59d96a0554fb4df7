"""A pack hook that hands back the operation's own output makes the graph keep itself alive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Keep graphs whose pack hook changes nothing, drop all else, and count the Tensors that stay."""
    from mindspore import ops

    from ms_compat.probing.growth import measure
    from ms_compat.probing.workloads import backward, identity, leaf, recording, saved_tensors_hooks

    def packed_by(pack: Callable[[Any], Any]) -> Callable[[], None]:
        def step() -> None:
            x = leaf(0.5, 1.0)
            with saved_tensors_hooks(pack):
                output = ops.exp(x)
            backward(output, retain_graph=True)

        return step

    with recording():
        growth = measure(packed_by(identity), control=packed_by(ops.stop_gradient), steps=3, warmup=2)
    stays = max(0.0, growth.tensors_per_step)
    return Finding(
        not growth.leaks_tensors,
        f"{stays:.2f} Tensors per step stay behind under an identity pack hook (control with a detaching one 0.00)",
        {"tensors_per_step": round(stays, 2), "steps": growth.steps},
    )


def counterproof() -> None:
    """Detach what a pack hook is given, as the shim does."""
    import mindspore
    from mindspore import ops

    original = mindspore.saved_tensors_hooks

    class DetachingHooks(original):  # type: ignore[misc, valid-type]
        def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
            super().__init__(lambda saved: pack(ops.stop_gradient(saved)), unpack)

    mindspore.saved_tensors_hooks = DetachingHooks


FEATURE = Feature(
    name="saved_tensors_hooks_detach_output",
    question="Is a graph freed whose pack hook handed back the very output it was given?",
    matters=(
        "Hooks that only watch, count or move some tensors return the others as they are. An output that is returned "
        "so refers to its graph and the graph to it: every graph that is retained, or that no backward runs "
        "through, stays for ever. Activation swapping and selective checkpointing are written this way."
    ),
    harm=Harm.GROWS,
    symptom=(
        "memory grows by one activation per operation and step under saved_tensors_hooks with hooks that do nothing; "
        "gc.collect() does not help; without the hooks it is flat"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.saved_tensors_hooks",
        action="Use ms_compat.saved_tensors_hooks, which detaches what the pack hook returns.",
        cost="one more view per saved tensor; no copy of the data",
        missing="Use MindSpore >= 2.7.2: older releases have no saved_tensors_hooks.",
    ),
    groups=("saved_tensors",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "hyper-parallel issue #661",
        "mindspore/ccsrc/pynative/backward/hook/saved_tensor_hook.h: PySavedTensorHook::RunPackHook",
    ),
    counterproof=counterproof,
)
