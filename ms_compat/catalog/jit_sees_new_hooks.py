"""A forward hook that is registered on a layer, or removed, after the jitted cell round it has run."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Register a hook that changes the output after a first run; in another cell, remove one after a first run."""
    import mindspore
    from mindspore import nn, ops

    from ms_compat.probing.workloads import tensor

    class Layer(nn.Cell):  # type: ignore[misc]
        def construct(self, x: Any) -> Any:
            return ops.mul(x, 1.0)

    class Network(nn.Cell):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = Layer()

        @mindspore.jit  # type: ignore[untyped-decorator, unused-ignore]
        def construct(self, x: Any) -> Any:
            return self.layer(x)

    def tenfold(cell: Any, inputs: Any, output: Any) -> Any:  # noqa: ARG001 - the signature is MindSpore's
        return output * 10.0

    def run(network: Any) -> float:
        return float(network(tensor(1.0)).asnumpy()[0])

    network = Network()
    before = run(network)
    network.layer.register_forward_hook(tenfold)
    registered = run(network)
    other = Network()
    handle = other.layer.register_forward_hook(tenfold)
    at_work = run(other)
    handle.remove()
    removed = run(other)
    if (before, at_work) != (1.0, 10.0):
        raise RuntimeError(
            f"without the hook the cell gives {before} instead of 1.0, with it {at_work} instead of 10.0"
        )
    return Finding(
        (registered, removed) == (10.0, 1.0),
        f"a hook that multiplies by 10 gives {registered:.1f} where it was registered after the first run "
        f"(right: 10.0) and {removed:.1f} where it was removed after it (right: 1.0)",
        {"after_registering": registered, "after_removing": removed},
    )


FEATURE = Feature(
    name="jit_sees_new_hooks",
    question="Does a jitted cell that has run see when a hook of a layer in it is registered or removed?",
    matters=(
        "Up to 2.9 the cell was compiled again. 2.10.0 silently goes on with what it compiled: a forward hook that is "
        "registered after the first step (quantisation, adapters, checks) is not called, and one that was removed "
        "still changes the output."
    ),
    harm=Harm.WRONG,
    symptom="a forward hook has no effect, or goes on after remove(), in a @jit network on 2.10.0",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Register hooks before the first call of the jitted cell; to change them later, make a new cell with the "
            "same Parameters, or leave @jit off while hooks come and go."
        ),
        cost="a new cell is compiled again",
    ),
    groups=("jit", "hooks"),
    spans=(Span(">=2.7.2,<2.10", True), Span(">=2.10,<2.11", False)),
    references=("mindspore/nn/cell.py: Cell.register_forward_hook", "mindspore/graph/api.py: jit"),
)
