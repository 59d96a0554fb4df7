"""Tensor._make_subclass: a Tensor of another class that shares the memory of a plain one."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def inspect() -> Finding:
    """Look for the method."""
    from ms_compat.probing.subclasses import wrapper

    wrapper()
    return Finding(True, "mindspore.Tensor has _make_subclass")


def probe() -> Finding:
    """Make one, write through it, and read the plain Tensor."""
    from ms_compat.probing.subclasses import wrapper
    from ms_compat.probing.workloads import tensor

    kind = wrapper()
    plain = tensor(1.0)
    made = kind(plain)
    made.copy_(tensor(3.0))
    of_kind, read = type(made) is kind, float(plain.asnumpy()[0])
    shares = read == 3.0
    return Finding(
        of_kind and shares,
        f"what it makes is {'' if of_kind else 'not '}of the subclass and {'shares' if shares else 'does not share'} "
        "the memory of the plain Tensor",
        {"is_of_the_subclass": of_kind, "shares_memory": shares},
    )


def counterproof() -> None:
    """Copy instead of sharing."""
    import mindspore

    original = mindspore.Tensor._make_subclass

    def make_a_copy(kind: type, plain: object) -> object:
        return original(kind, mindspore.Tensor(plain.asnumpy().copy()))  # type: ignore[attr-defined]

    mindspore.Tensor._make_subclass = staticmethod(make_a_copy)


FEATURE = Feature(
    name="tensor_make_subclass",
    question="Can a Tensor subclass be made that shares the memory of a plain Tensor?",
    matters=(
        "HyperParallel's DTensor is made this way, so that a sharded Tensor and its local part are one piece of "
        "memory. Below 2.8 there is no such thing: DTensor and whatever is built on it cannot be used."
    ),
    harm=Harm.FAILS,
    symptom="AttributeError: type object 'Tensor' has no attribute '_make_subclass'",
    probe=probe,
    remedy=Remedy(
        path=Path.ERROR,
        action="Use MindSpore >= 2.8 for DTensor and other subclasses that share memory.",
        cost="an upgrade",
        remove_when=">=2.8",
    ),
    groups=("subclasses",),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.11", True)),
    references=(
        "mindspore/common/tensor.py: Tensor",
        "hyper_parallel/platform/mindspore/dtensor.py: DTensorBase.__new__",
    ),
    counterproof=counterproof,
    inspect=inspect,
)
