"""mint.add and mint.mul with a subclass that has a __fallback__, as the first such call of a process."""

from __future__ import annotations

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_PROGRAM = """
from mindspore import Tensor, mint
from mindspore._c_expression import NoFallbackGuard

class Wrapper(Tensor):
    def __new__(cls, inner):
        made = Tensor._make_subclass(cls, inner)
        made.inner = inner
        return made
    def __init__(self, inner):
        pass
    def __fallback__(self, operation, args=(), kwargs=None):
        with NoFallbackGuard():
            return operation(*[value.inner if isinstance(value, Wrapper) else value for value in args])

def plain(value):
    return Tensor([value], mindspore.float32)

print(float(mint.{function}(Wrapper(plain(2.0)), plain(3.0)).asnumpy()[0]))
"""


def probe() -> Finding:
    """Run one call in a fresh interpreter, since it may take the process down."""
    import mindspore

    from ms_compat.probing.alone import run_alone

    if not hasattr(mindspore.Tensor, "_make_subclass"):
        raise ApiMissing("mindspore.Tensor._make_subclass")
    ending = run_alone(_PROGRAM.replace("{function}", "add"))
    if ending.error:
        raise RuntimeError(ending.error)
    survived = ending.signal == 0
    if survived and float(ending.output) != 5.0:
        raise RuntimeError(f"mint.add gives {ending.output} instead of 5.0")
    return Finding(
        survived,
        "mint.add of a subclass and a plain Tensor "
        + ("gives 5.0 (right: 5.0)" if survived else f"ends the process with signal {ending.signal}"),
        {"signal": ending.signal},
    )


FEATURE = Feature(
    name="subclass_operand_is_safe",
    question="Does the process survive mint.add with a Tensor subclass that has a __fallback__?",
    matters=(
        "On 2.8 and 2.9 mint.add, mint.sub, mint.mul and mint.div of a DTensor end the process with a segmentation "
        "fault when they are the first call of that kind; a training run dies without a Python traceback."
    ),
    harm=Harm.FAILS,
    symptom="Segmentation fault (core dumped) at the first mint.add or mint.mul of a DTensor",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Call ops.add, ops.sub, ops.mul and ops.div, or the operators with the subclass on the left.",
        cost="none",
        missing="Use MindSpore >= 2.8 for Tensor subclasses with a __fallback__.",
        remove_when=">=2.10",
    ),
    groups=("subclasses", "errors"),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=("mindspore/ccsrc/pynative/forward/pyboost/fallback.cc",),
)
