"""nn.Cell.to_empty."""

from __future__ import annotations

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def inspect() -> Finding:
    """Look for the method."""
    from mindspore import nn

    if not hasattr(nn.Cell, "to_empty"):
        raise ApiMissing("mindspore.nn.Cell.to_empty")
    return Finding(True, "nn.Cell has to_empty")


def probe() -> Finding:
    """Empty a cell with two parameters and look at them."""
    import mindspore
    from mindspore import nn

    from ms_compat.probing.workloads import drain, tensor

    inspect()

    class Net(nn.Cell):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = mindspore.Parameter(tensor(1.0, 2.0), name="weight")
            self.bias = mindspore.Parameter(tensor(3.0), name="bias")

    net = Net()
    held = [p.data for p in net.get_parameters()]  # so that no new memory is at an old address
    before = {name: p.data_ptr() for name, p in net.parameters_and_names()}
    net.to_empty(device="CPU")
    drain()
    after = {name: p.data_ptr() for name, p in net.parameters_and_names()}
    del held
    kept = list(after) == list(before) and net.weight.shape == (2,) and net.bias.shape == (1,)
    renewed = sum(after[name] != before[name] for name in before if name in after)
    return Finding(
        kept and renewed == len(before),
        f"{renewed} of {len(before)} parameters have new memory and their names and shapes are "
        f"{'kept' if kept else 'not kept'}",
        {"renewed": renewed, "parameters": len(before), "names_and_shapes_kept": kept},
    )


def counterproof() -> None:
    """Let it do nothing."""
    from mindspore import nn

    nn.Cell.to_empty = lambda self, **_: self


FEATURE = Feature(
    name="cell_to_empty",
    question="Does Cell.to_empty give every parameter uninitialized memory on a device?",
    matters=(
        "A large model is built without memory and materialized after it was sharded (HyperParallel's deferred "
        "initialization). Only 2.10.0 has it; HyperParallel overwrites it with its own from 2.9 on."
    ),
    harm=Harm.MOVED,
    symptom="AttributeError: The 'Dense' object has no attribute 'to_empty'",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.to_empty",
        action="Call ms_compat.to_empty(cell, device=...).",
        cost="none",
        remove_when=">=2.10",
    ),
    groups=("parameters", "moved_names"),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=("mindspore/nn/cell.py: Cell.to_empty",),
    counterproof=counterproof,
    inspect=inspect,
)
