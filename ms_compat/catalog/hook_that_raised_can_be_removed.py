"""A tensor hook that raised under value_and_grad runs again although its handle was removed."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Let a hook of a Parameter raise, remove it, and compute the gradient again."""
    import mindspore
    from mindspore import ops

    from ms_compat.probing.tape import Deliberate
    from ms_compat.probing.workloads import parameter, recording, tensor

    weight = parameter(0.5)
    calls: list[None] = []

    def fail(_: Any) -> None:
        calls.append(None)
        raise Deliberate

    handle = weight.register_hook(fail)
    with recording(on=False):
        differentiate = mindspore.value_and_grad(lambda x: ops.mul(weight, x), None, [weight])
        for _ in range(2):
            with contextlib.suppress(Deliberate):
                differentiate(tensor(2.0))
            handle.remove()
    again = len(calls) > 1
    return Finding(
        not again,
        f"a hook that raised and was removed {'runs again' if again else 'does not run again'} in the next gradient",
        {"calls": len(calls)},
    )


def counterproof() -> None:
    """Call a hook no more once its handle was removed."""
    import mindspore

    tensor_type = mindspore.Tensor
    original = tensor_type.register_hook

    def register_hook(self: Any, hook: Callable[[Any], Any]) -> Any:
        removed: list[None] = []
        handle = original(self, lambda gradient: gradient if removed else hook(gradient))
        remove = handle.remove

        def remove_for_good() -> None:
            removed.append(None)
            remove()

        handle.remove = remove_for_good
        return handle

    tensor_type.register_hook = register_hook


FEATURE = Feature(
    name="hook_that_raised_can_be_removed",
    question="Is a tensor hook gone when it is removed after it raised?",
    matters=(
        "A hook that checks gradients (for NaN, for a shape) raises and is removed by a finally block. Under "
        "value_and_grad it stays on its Parameter all the same: every later gradient that involves that Parameter "
        "raises the error again, also in other functions, until the process ends."
    ),
    harm=Harm.FAILS,
    symptom="the exception of a tensor hook is raised again by every later step although handle.remove() was called",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.register_hook",
        action=(
            "Register it with ms_compat.register_hook, whose handle's remove() holds whatever happened before. By "
            "default a hook is called in one backward only; for one that is to stay pass release='with_handle' and "
            "keep the handle."
        ),
        cost="one more Python call per hook",
    ),
    groups=("hooks", "errors"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/common/hook_handle.py: _TensorHookHandle.remove",),
    counterproof=counterproof,
)
