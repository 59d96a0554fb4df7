"""What value_and_grad saves under identity saved-tensor hooks is released after the step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Count the Tensors that stay behind steps under a pack hook that changes nothing."""
    from mindspore import ops

    from ms_compat.probing.growth import measure
    from ms_compat.probing.workloads import curve, identity, saved_tensors_hooks, tensor, value_and_grad

    def packed_by(pack: Callable[[Any], Any]) -> Callable[[], None]:
        def forward(x: Any) -> Any:
            with saved_tensors_hooks(pack):
                return curve(x)

        gradient = value_and_grad(forward)

        def step() -> None:
            gradient(tensor(0.5, 1.0))

        return step

    growth = measure(packed_by(identity), control=packed_by(ops.stop_gradient), steps=2, warmup=1)
    stays = max(0.0, growth.tensors_per_step)
    return Finding(
        not growth.leaks_tensors,
        f"{stays:.2f} Tensors per step stay behind under an identity pack hook (control with a detaching one 0.00)",
        {"tensors_per_step": round(stays, 2), "steps": growth.steps},
    )


def counterproof() -> None:
    """Let an exception out of a function that value_and_grad runs: MindSpore keeps every graph from then on."""
    import contextlib

    import mindspore

    from ms_compat.probing.workloads import tensor

    class Interrupted(Exception):
        pass

    def interrupted(_: Any) -> Any:
        raise Interrupted

    with contextlib.suppress(Interrupted):
        mindspore.value_and_grad(interrupted)(tensor(1.0))


FEATURE = Feature(
    name="value_and_grad_hooks_release_tensors",
    question="Does value_and_grad release what it saved under saved-tensor hooks that hand back what they are given?",
    matters=(
        "value_and_grad is the usual training step, and identity hooks are what a library installs that wants to "
        "watch or swap only some of the saved tensors. What is not released is lost on every step of the run."
    ),
    harm=Harm.GROWS,
    symptom=(
        "three Tensors per step pile up when exp(x * x) runs in value_and_grad under saved_tensors_hooks; also seen "
        "after a forward in value_and_grad has once raised, from when on every step keeps its graph"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.detach_saved_tensors",
        action=(
            "Run the forward inside ms_compat.detach_saved_tensors(). After an exception in a forward, call "
            "_pynative_executor.clear_res() before going on."
        ),
        cost="one pack hook per saved tensor, with the frontend pipeline off inside it; no copy of the data",
        missing="Use MindSpore >= 2.7.2: older releases have no saved_tensors_hooks.",
    ),
    groups=("saved_tensors",),
    spans=(Span(">=2.7.2,<2.11", True),),
    references=(
        "hyper-parallel issue #661",
        "mindspore/ccsrc/pynative/backward/hook/saved_tensor_hook.h: PySavedTensorHook::RunPackHook",
    ),
    counterproof=counterproof,
)
