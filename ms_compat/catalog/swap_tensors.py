"""mindspore.swap_tensors."""

from __future__ import annotations

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def inspect() -> Finding:
    """Look for the function."""
    import mindspore

    if not hasattr(mindspore, "swap_tensors"):
        raise ApiMissing("mindspore.swap_tensors")
    return Finding(True, "mindspore has swap_tensors")


def probe() -> Finding:
    """Swap two Tensors of different shapes and read both."""
    import mindspore

    from ms_compat.probing.tensors import numbers
    from ms_compat.probing.workloads import drain, tensor

    inspect()
    left, right = tensor(1.0, 2.0), tensor(3.0, 4.0, 5.0)
    drain()
    mindspore.swap_tensors(left, right)
    swapped = numbers(left) == [3.0, 4.0, 5.0] and numbers(right) == [1.0, 2.0]
    return Finding(
        swapped,
        f"two Tensors of shapes (2,) and (3,) {'have' if swapped else 'have not'} each other's values afterwards",
        {"swapped": swapped},
    )


def counterproof() -> None:
    """Let it do nothing."""
    import mindspore

    mindspore.swap_tensors = lambda *_: None


FEATURE = Feature(
    name="swap_tensors",
    question="Does swap_tensors exchange what two Tensors are?",
    matters=(
        "A module is converted or loaded by swapping each parameter for a new one, so that optimizers and hooks that "
        "hold the old object see the new data. Only 2.10.0 has it."
    ),
    harm=Harm.MOVED,
    symptom="AttributeError: module 'mindspore' has no attribute 'swap_tensors'",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Exchange the data: other = left.value().copy(); left.set_data(right.value().copy()); "
            "right.set_data(other). Hooks, names and Python attributes stay where they are then."
        ),
        cost="two copies of the data",
        remove_when=">=2.10",
    ),
    groups=("parameters", "moved_names"),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=("mindspore/common/tensor.py: swap_tensors",),
    counterproof=counterproof,
    inspect=inspect,
)
