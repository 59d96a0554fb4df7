"""The tuple of needs_input_grad that a custom function's context is given."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_CALLS = 20


def probe() -> Finding:
    """Apply a function many times and count how many of its needs_input_grad tuples nobody but this probe holds."""
    import sys

    from mindspore import ops
    from mindspore.common._grad_function import _Function

    from ms_compat.probing.workloads import backward, drain, leaf, recording

    given: list[Any] = []

    class Double(_Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            given.append(ctx.needs_input_grad)
            return ops.add(x, x)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:  # noqa: ARG004 - the signature is MindSpore's
            return ops.add(gradient, gradient)

    def references(of: list[Any]) -> list[int]:
        return [sys.getrefcount(of[place]) for place in range(len(of))]

    with recording():
        for _ in range(_CALLS):
            backward(Double.apply(leaf(0.5)))
        drain()
    alone = references([(place, "only held by this list") for place in range(_CALLS)])
    surplus = [mine - own for mine, own in zip(references(given), alone, strict=True)]
    stays = sum(surplus) / _CALLS
    return Finding(
        not any(surplus),
        f"{stays:.2f} references to its needs_input_grad tuple stay behind per call of apply",
        {"references_per_call": round(stays, 2), "calls": _CALLS},
    )


FEATURE = Feature(
    name="function_ctx_releases",
    question="Does a custom function's apply let go of its needs_input_grad tuple?",
    matters=(
        "Custom functions (MindFormers' attention, HyperParallel's hooks round sharded layers) run once per layer and "
        "micro batch. From 2.8 on each call leaves a tuple behind for ever: some 50 bytes on their own, which add up "
        "over a long run, and one more object for every collection of the garbage collector."
    ),
    harm=Harm.GROWS,
    symptom="host memory and the number of tuples grow by one per call of _Function.apply",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.Function",
        action="Derive custom functions from ms_compat.Function instead of mindspore's _Function.",
        cost="one more Python call per apply",
    ),
    groups=("function",),
    spans=(Span(">=2.7.2,<2.8", True), Span(">=2.8,<2.11", False)),
    references=(
        "mindspore/common/_grad_function.py: _Function.apply",
        "mindformers/pynative/transformers/multi_latent_attention.py",
    ),
)
