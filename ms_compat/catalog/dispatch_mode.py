"""MsDispatchMode: a context that is asked before each operation runs."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def inspect() -> Finding:
    """Look for the class."""
    from ms_compat.probing.subclasses import dispatch_mode

    dispatch_mode()
    return Finding(True, "mindspore has MsDispatchMode")


def probe() -> Finding:
    """Differentiate a forward that ran inside a mode, with an operation in the callback that must not be seen."""
    from mindspore import ops

    from ms_compat.probing.subclasses import dispatch_mode
    from ms_compat.probing.workloads import curve, differentiate_on_tape, tensor

    mode, seen = dispatch_mode(then=lambda: ops.add(tensor(1.0), tensor(2.0)))

    def inside(x: object) -> object:
        with mode:
            return curve(x)

    finding = differentiate_on_tape(inside)
    operations = ", ".join(seen)
    return Finding(
        finding.holds and seen == ["Mul", "Exp"],
        f"a mode round exp(x * x) sees {operations or 'nothing'}, and {finding.summary}",
        {"seen": operations, **finding.evidence},
    )


def counterproof() -> None:
    """Enter modes without telling the dispatcher."""
    import mindspore

    mindspore.MsDispatchMode.__enter__ = lambda self: self
    mindspore.MsDispatchMode.__exit__ = lambda *_: False


FEATURE = Feature(
    name="dispatch_mode",
    question="Does a dispatch mode see each operation, and is what ran inside it differentiated?",
    matters=(
        "HyperParallel's selective activation checkpointing decides in a mode, for each operation, whether its output "
        "is stored or computed again. Its modules cannot even be imported where the class does not exist."
    ),
    harm=Harm.FAILS,
    symptom="ImportError: cannot import name 'MsDispatchMode' from 'mindspore'",
    probe=probe,
    remedy=Remedy(
        path=Path.ERROR,
        action=(
            "Use MindSpore >= 2.9 for selective checkpointing. Without it, recompute whole blocks, and guard the "
            "import of MsDispatchMode."
        ),
        cost="an upgrade, or more computation in the backward",
        remove_when=">=2.9",
    ),
    groups=("dispatch",),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=(
        "mindspore/utils/ms_dispatch.py: MsDispatchMode",
        "hyper_parallel/platform/mindspore/activation_checkpoint/sac.py",
    ),
    counterproof=counterproof,
    inspect=inspect,
)
