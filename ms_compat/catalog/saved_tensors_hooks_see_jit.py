"""Saved-tensor hooks round a call of a jitted function."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Count what a jitted function and the same eager one hand to a pack hook."""
    import mindspore
    from mindspore import ops

    from ms_compat.probing.workloads import curve, drain, leaf, recording, saved_tensors_hooks

    @mindspore.jit  # type: ignore[untyped-decorator, unused-ignore]
    def compiled_curve(x: Any) -> Any:
        return ops.exp(ops.mul(x, x))

    packed: list[None] = []

    def pack(saved: Any) -> Any:
        packed.append(None)
        return saved

    def saves(function: Any) -> int:
        packed.clear()
        with recording(), saved_tensors_hooks(pack):
            output = function(leaf(0.5))
            drain()
            if not output._requires_grad:
                raise RuntimeError("the forward was not recorded")
        return len(packed)

    eager, compiled = saves(curve), saves(compiled_curve)
    if eager == 0:
        raise RuntimeError("the hooks were not called for eager code either")
    return Finding(
        compiled > 0,
        f"the hooks were called for {compiled} saved tensors of a jitted function ({eager} in eager code)",
        {"packed_in_jit": compiled, "packed_in_eager_code": eager},
    )


def counterproof() -> None:
    """Switch compilation off."""
    from ms_compat.probing.compiled import switch_jit_off

    switch_jit_off()


FEATURE = Feature(
    name="saved_tensors_hooks_see_jit",
    question="Are saved-tensor hooks called for what a jitted function saves?",
    matters=(
        "Activation swap and offload and non-reentrant recompute are built on the hooks. What a jitted function inside "
        "of them saves for its backward is not handed to them: it stays in device memory, and the saving that was "
        "expected does not come."
    ),
    harm=Harm.GROWS,
    symptom="activation swap, offload or recompute saves no memory for layers with @jit",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Leave @jit off the layers whose activations are to be swapped, offloaded or recomputed.",
        cost="these layers run in eager mode",
        missing="Use MindSpore >= 2.7.2: older releases have no saved_tensors_hooks.",
    ),
    groups=("jit", "saved_tensors"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "mindspore/graph/api.py: saved_tensors_hooks",
        "mindspore/ccsrc/pynative/backward/jit_grad/jit_grad.cc",
    ),
    counterproof=counterproof,
)
