"""A tensor hook whose handle was dropped leaves a registration behind when its tensor is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable

_HOOKS = 200
#: Bytes per hook; what stays is 43 and more (97 where each tensor has one hook), what a repaired one moves is below 5.
_THRESHOLD = 20.0


def probe() -> Finding:
    """Register hooks and drop their handles, against hooks that are removed after they were called."""
    from mindspore import ops

    from ms_compat.probing.growth import measure
    from ms_compat.probing.workloads import backward, identity, leaf, recording

    fired: list[None] = []

    def hook(gradient: Any) -> Any:
        fired.append(None)
        return identity(gradient)

    def registered(*, removed: bool) -> Callable[[], None]:
        def step() -> None:
            fired.clear()
            x = leaf(0.5)
            handles = [x.register_hook(hook) for _ in range(_HOOKS)]
            if not removed:
                handles.clear()
            backward(ops.exp(x))
            for handle in handles:
                handle.remove()
            if len(fired) != _HOOKS:
                raise RuntimeError(f"{_HOOKS} hooks were registered, but {len(fired)} were called")

        return step

    with recording():
        growth = measure(registered(removed=False), control=registered(removed=True), steps=4, warmup=2)
    stays = max(0.0, growth.bytes_per_step / _HOOKS)
    return Finding(
        not growth.bytes_exceed(_THRESHOLD * _HOOKS),
        f"{stays:.0f} bytes per registered hook stay behind (control with handle.remove() 0)",
        {"bytes_per_hook": round(stays), "hooks_per_step": _HOOKS, "steps": growth.steps},
    )


def counterproof() -> None:
    """Remove a hook that has been called at the next registration, as the shim does."""
    import mindspore

    tensor_type = mindspore.Tensor
    original = tensor_type.register_hook
    spent: list[Any] = []

    def register_hook(self: Any, hook: Callable[[Any], Any]) -> Any:
        while spent:
            spent.pop().remove()
        own: list[Any] = []

        def once(gradient: Any) -> Any:
            spent.extend(own)
            return hook(gradient)

        own.append(original(self, once))
        return own[0]

    tensor_type.register_hook = register_hook


FEATURE = Feature(
    name="hook_handle_drop_releases",
    question="Is a tensor hook freed with its tensor when nobody keeps its handle?",
    matters=(
        "Frameworks register a hook per parameter or activation on every step and drop the handle, as torch allows. "
        "MindSpore keeps an entry in a process-wide map for each, up to 100 bytes, until remove() is called. The "
        "resident size of a short run does not show it, but a thousand hooks per step are 100 MB after 1000 steps."
    ),
    harm=Harm.GROWS,
    symptom="host memory grows slowly but steadily with recompute off: up to 100 bytes per Tensor.register_hook call",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.register_hook",
        action=(
            "Call ms_compat.register_hook(tensor, hook), which by default calls the hook in one backward only; for one "
            "that is to stay pass release='with_handle' and keep the handle. With MindSpore's own, call remove() after "
            "the backward and never inside the hook: that crashes the process."
        ),
        cost="one more Python call per hook; the last hooks that were called stay until the next registration",
    ),
    groups=("hooks",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "hyper-parallel issue #660",
        "mindspore/common/hook_handle.py: _TensorHookHandle",
        "mindspore/ccsrc/pynative/backward/hook/hook_py.h: RegisterHook::RegisterTensorBackwardHook",
    ),
    counterproof=counterproof,
)
