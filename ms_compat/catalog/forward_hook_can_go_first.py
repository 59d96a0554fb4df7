"""register_forward_hook(prepend=) and register_forward_pre_hook(prepend=)."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Register a second hook of each kind in front of the first and note the order."""
    from mindspore import nn

    from ms_compat.probing.workloads import accepts, identity, tensor

    class Layer(nn.Cell):  # type: ignore[misc]
        def construct(self, x: Any) -> Any:
            return identity(x)

    layer = Layer()
    order: list[str] = []
    for kind in ("register_forward_pre_hook", "register_forward_hook"):
        register = getattr(layer, kind)
        if not accepts(register, "prepend"):
            raise ApiMissing(f"mindspore.nn.Cell.{kind}(prepend=)")
        register(lambda *_, kind=kind: order.append(f"{kind} late"))
        register(lambda *_, kind=kind: order.append(f"{kind} early"), prepend=True)
    layer(tensor(1.0))
    right = [f"register_forward_{kind} {when}" for kind in ("pre_hook", "hook") for when in ("early", "late")]
    return Finding(
        order == right,
        f"hooks that were put in front run {'first' if order == right else 'in another order'}",
        {"order": ", ".join(order)},
    )


def counterproof() -> None:
    """Take the keyword and forget it."""
    from mindspore import nn

    for kind in ("register_forward_pre_hook", "register_forward_hook"):
        original = getattr(nn.Cell, kind)

        def register(self: Any, hook: Any, *, prepend: bool = False, original: Any = original, **options: Any) -> Any:  # noqa: ARG001
            return original(self, hook, **options)

        setattr(nn.Cell, kind, register)


FEATURE = Feature(
    name="forward_hook_can_go_first",
    question="Can a forward hook be put in front of those that are there (prepend=True)?",
    matters=(
        "Fully sharded data parallelism has to gather parameters before any other hook of the layer looks at them. "
        "HyperParallel accepts prepend and drops it, so below 2.9 its hook runs in the order of registration."
    ),
    harm=Harm.FAILS,
    symptom="TypeError: Cell.register_forward_hook() got an unexpected keyword argument 'prepend'",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Register the hook that has to run first before all others.",
        cost="whoever registers later must not need to be first",
        remove_when=">=2.9",
    ),
    groups=("hooks",),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=(
        "mindspore/nn/cell.py: Cell.register_forward_hook",
        "hyper_parallel/platform/mindspore/fully_shard/hook_function.py",
    ),
    counterproof=counterproof,
)
