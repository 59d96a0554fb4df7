"""A saved operation output that is not detached when it is unpacked keeps its own graph alive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Keep graphs with a saved output, drop all else, and count the Tensors that stay."""
    from mindspore import ops

    from ms_compat.probing.growth import measure
    from ms_compat.probing.workloads import backward, leaf, recording, saved_tensors_hooks

    def graphs(*, retain_graph: bool) -> Callable[[], None]:
        def step() -> None:
            x = leaf(0.5, 1.0)
            # One copy that belongs to the graph and to nothing else: it stays exactly as long as the graph does.
            with saved_tensors_hooks(ops.stop_gradient):
                inner = ops.relu(x)
            backward(ops.exp(inner), retain_graph=retain_graph)

        return step

    with recording():
        growth = measure(graphs(retain_graph=True), control=graphs(retain_graph=False), steps=3, warmup=2)
    stays = max(0.0, growth.tensors_per_step)
    return Finding(
        not growth.leaks_tensors,
        f"{stays:.2f} Tensors per step stay behind in retained graphs that nothing refers to (control 0.00)",
        {"tensors_per_step": round(stays, 2), "steps": growth.steps},
    )


def counterproof() -> None:
    """Where outputs are detached, hand them back undetached by a hook; where they are not, detach them by one."""
    from mindspore import ops

    from ms_compat.probing.workloads import identity, saved_tensors_hooks

    saved_tensors_hooks(identity if probe().holds else ops.stop_gradient).__enter__()


FEATURE = Feature(
    name="saved_tensor_unpack_detaches",
    question="Is a saved operation output detached when the backward unpacks it?",
    matters=(
        "An output that comes back with its history makes the graph a cycle that no collector sees. Whoever keeps a "
        "graph (retain_graph=True, a second backward, a gradient penalty) loses the whole graph's memory each time."
    ),
    harm=Harm.GROWS,
    symptom=(
        "device or host memory grows by every saved activation per step as soon as backward(retain_graph=True) is "
        "used; dropping all references and gc.collect() do not help"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.detach_saved_tensors",
        action="Run the forward of a graph that is retained inside ms_compat.detach_saved_tensors().",
        cost="one pack hook per saved tensor, with the frontend pipeline off inside it; no copy of the data",
        missing="Use MindSpore >= 2.7.2: older releases have neither saved_tensors_hooks nor a repair.",
        remove_when=">=2.9",
    ),
    groups=("saved_tensors", "tape"),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=(
        "hyper-parallel issue #661",
        "mindspore/ccsrc/pynative/backward/saved_tensor.h: SavedTensor::UnWrap",
    ),
    counterproof=counterproof,
)
