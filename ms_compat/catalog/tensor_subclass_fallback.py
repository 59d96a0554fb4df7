"""__fallback__ of a Tensor subclass, and NoFallbackGuard that switches it off."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Multiply with the subclass outside and inside of the guard, and differentiate."""
    from mindspore import ops

    from ms_compat.probing.subclasses import intercepted, no_fallback_guard
    from ms_compat.probing.workloads import backward, leaf, recording

    kind, seen = intercepted()
    with recording():
        x = leaf(3.0)
        sharded = kind(x)
        product = ops.mul(sharded, sharded)
        called = len(seen)
        with no_fallback_guard():
            ops.mul(sharded, sharded)
        called_inside = len(seen) - called
        backward(product)
        found = float(x._grad.asnumpy()[0])
    holds = called == 1 and called_inside == 0 and abs(found - 6.0) < 1e-4
    return Finding(
        holds,
        f"__fallback__ was called {called} time for one product and {called_inside} times inside the guard, and the "
        f"gradient is {found:.4f} (right: 6.0000)",
        {"called": called, "called_inside_guard": called_inside, "gradient": round(found, 4)},
    )


def counterproof() -> None:
    """Take __fallback__ away from whatever subclass is made."""
    import mindspore

    original = mindspore.Tensor._make_subclass

    def make_without(kind: Any, plain: Any) -> Any:
        if hasattr(kind, "__fallback__"):
            del kind.__fallback__
        return original(kind, plain)

    mindspore.Tensor._make_subclass = staticmethod(make_without)


FEATURE = Feature(
    name="tensor_subclass_fallback",
    question="Is __fallback__ of a Tensor subclass called for its operations, and not inside NoFallbackGuard?",
    matters=(
        "HyperParallel's DTensor is built on it: __fallback__ decides for each operation how the shards take part, and "
        "runs the local part inside NoFallbackGuard. Without it every operation on a DTensor works on the local shard."
    ),
    harm=Harm.FAILS,
    symptom="ImportError: cannot import name 'NoFallbackGuard' from 'mindspore._c_expression'",
    probe=probe,
    remedy=Remedy(
        path=Path.ERROR,
        action="Use MindSpore >= 2.8 for DTensor.",
        cost="an upgrade",
        remove_when=">=2.8",
    ),
    groups=("subclasses",),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.11", True)),
    references=(
        "mindspore/ccsrc/pynative/forward/pyboost/fallback.cc",
        "hyper_parallel/platform/mindspore/dtensor.py: DTensorBase.__fallback__",
    ),
    counterproof=counterproof,
)
