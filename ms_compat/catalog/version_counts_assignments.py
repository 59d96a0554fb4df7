"""Which in-place writes Tensor._version counts."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def _set_item(x: Any) -> None:
    x[0] = 9.0


def probe() -> Finding:
    """Write in four ways and read the version when the pipeline has run."""
    from mindspore import nn, ops

    from ms_compat.probing.tensors import listing, numbers, tensor_method
    from ms_compat.probing.workloads import drain, tensor, wake_numpy

    def step(x: Any) -> None:
        nn.SGD([x], 0.5)((tensor(1.0),))

    def growth(write: Any) -> int:
        import mindspore

        x = mindspore.Parameter(tensor(4.0), name="x")
        drain()
        before = x._version
        write(x)
        if numbers(x) == [4.0]:
            raise RuntimeError("a write did not arrive in the Tensor")
        return int(x._version) - int(before)

    tensor_method("_version")
    wake_numpy()
    if growth(lambda x: x.copy_(tensor(9.0))) != 1:
        raise RuntimeError("not even copy_ is counted")
    ways = {
        "t[0] = v": _set_item,
        "ops.assign": lambda x: ops.assign(x, tensor(9.0)),
        "ops.assign_add": lambda x: ops.assign_add(x, tensor(9.0)),
        "an optimizer step": step,
    }
    missed = [name for name, write in ways.items() if growth(write) == 0]
    return Finding(
        not missed,
        f"_version does not count {len(missed)} of {len(ways)} ways to write ({listing(missed)})",
        {"missed": listing(missed), "ways": len(ways)},
    )


def counterproof() -> None:
    """Write with copy_, which counts."""
    from mindspore import nn

    from ms_compat.probing.tensors import count_writes

    def step(self: Any, gradients: Any) -> None:
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.copy_(parameter - gradient)

    count_writes()
    nn.SGD.construct = step


FEATURE = Feature(
    name="version_counts_assignments",
    question="Does Tensor._version count item assignments, ops.assign and optimizer steps?",
    matters=(
        "HyperParallel's selective checkpointing keeps a version beside each tensor it caches and raises when it has "
        "changed. Only copy_ is counted: after an assignment or an optimizer step the check passes and the cached "
        "value is not the one that was saved."
    ),
    harm=Harm.WRONG,
    symptom="a cached activation or weight is used although it was assigned to; tensor._version stays 0 after t[0] = v",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Write with copy_ where a version is compared, or keep a copy of the tensor instead of its version.",
        cost="one more copy per write, or the memory of a copy",
    ),
    groups=("inplace", "saved_tensors"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore.Tensor._version (native)",
        "hyper_parallel/platform/mindspore/activation_checkpoint/sac.py: val._version",
    ),
    counterproof=counterproof,
)
