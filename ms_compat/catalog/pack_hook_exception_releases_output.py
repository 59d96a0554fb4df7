"""An exception raised in a pack hook keeps the operation's output alive for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


class _Refused(Exception):
    """What the pack hook raises."""


def probe() -> Finding:
    """Run one operation under a pack hook that raises, again and again, and count what stays."""
    from mindspore import ops

    from ms_compat.probing.growth import measure
    from ms_compat.probing.workloads import leaf, recording, saved_tensors_hooks

    caught: list[None] = []

    def refuse(_: Any) -> Any:
        raise _Refused

    def packed_by(pack: Callable[[Any], Any]) -> Callable[[], None]:
        x = leaf(0.5, 1.0)

        def step() -> None:
            try:
                with saved_tensors_hooks(pack):
                    ops.exp(x)
            except _Refused:
                caught.append(None)

        return step

    with recording():
        # The control's hook returns its tensor detached, so that nothing of it stays for another reason.
        growth = measure(packed_by(refuse), control=packed_by(ops.stop_gradient), steps=3, warmup=2)
    calls = 2 + 3 * growth.steps
    if len(caught) != calls:
        raise RuntimeError(f"{calls} operations ran under a pack hook that raises, but {len(caught)} exceptions came")
    stays = max(0.0, growth.tensors_per_step)
    return Finding(
        not growth.leaks_tensors,
        f"{stays:.2f} Tensors per exception stay behind (control without one 0.00)",
        {"tensors_per_exception": round(stays, 2), "exceptions": calls},
    )


def counterproof() -> None:
    """Keep the exception inside the hook until the operation is through, and raise it when the context ends."""
    import mindspore

    original = mindspore.saved_tensors_hooks

    class PatientHooks(original):  # type: ignore[misc, valid-type]
        def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
            self._refusals: list[Exception] = []

            def pack_quietly(saved: Any) -> Any:
                try:
                    return pack(saved)
                except Exception as refusal:  # noqa: BLE001 - whatever the hook raises is raised again below
                    self._refusals.append(refusal)
                    return None

            super().__init__(pack_quietly, unpack)

        def __exit__(self, *raised: object) -> None:
            super().__exit__(*raised)
            if self._refusals:
                raise self._refusals.pop()

    mindspore.saved_tensors_hooks = PatientHooks


FEATURE = Feature(
    name="pack_hook_exception_releases_output",
    question="Is an operation's output freed when a pack hook raises?",
    matters=(
        "Raising in a pack hook is how recompute stops a replay early, and what a hook does on a tensor it cannot "
        "handle. The output of that operation is never freed and never finished either: whoever finds it among the "
        "live objects and reads its shape, dtype or value waits for ever."
    ),
    harm=Harm.GROWS,
    symptom=(
        "one Tensor more in gc.get_objects() after each exception out of a saved_tensors_hooks context; the process "
        "hangs when a debugger or a memory report touches it"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Do not raise in a pack hook: note the failure, return any placeholder, and raise after the "
            "saved_tensors_hooks context has ended. Never read an attribute of a Tensor found by gc.get_objects()."
        ),
        cost="the exception arrives after the operations of the context have run, not at the one that caused it",
        missing="Use MindSpore >= 2.7.2: older releases have no saved_tensors_hooks.",
    ),
    groups=("saved_tensors",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "hyper-parallel issue #661",
        "mindspore/common/recompute.py: _RecomputationHook.pack",
        "mindspore/ccsrc/pynative/backward/hook/saved_tensor_hook.h: PySavedTensorHook::RunPackHook",
    ),
    counterproof=counterproof,
)
