import sys

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span
from tests.house.probing.means import look


def probe() -> Finding:
    return look("frees_memory", False, "1.00 Tensors per step stay")


def inspect() -> Finding:
    return Finding(sys.modules["mindspore"].frees, "the name is there")


FEATURE = Feature(
    name="frees_memory",
    question="Is memory freed?",
    matters="A run ends when memory does.",
    harm=Harm.GROWS,
    symptom="memory grows by the step",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.mend",
        action="Call the mended one.",
        cost="a copy per step",
        remove_when=">=3.0",
    ),
    groups=("memory",),
    inspect=inspect,
    spans=(Span("<2.90", True), Span(">=2.95", False)),
    references=("the meter",),
)
