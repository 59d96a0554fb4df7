"""An exception in the forward of value_and_grad leaves MindSpore recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Raise in a forward, and look whether operators after it are recorded."""
    import mindspore
    from mindspore import ops

    from ms_compat.probing.tape import Deliberate
    from ms_compat.probing.workloads import curve, leaf, recording, tensor

    def fail(x: Any) -> Any:
        curve(x)
        raise Deliberate

    with recording(on=False) as engine:
        before = bool(ops.exp(leaf(0.5))._requires_grad)
        try:
            mindspore.value_and_grad(fail)(tensor(0.5))
        except Deliberate:
            after = bool(ops.exp(leaf(0.5))._requires_grad)
        finally:
            engine.clear_res()
    return Finding(
        after == before,
        f"operators are {'recorded' if after else 'not recorded'} after a forward that raised (before it: "
        f"{'recorded' if before else 'not recorded'})",
        {"recorded_before": before, "recorded_after": after},
    )


def counterproof() -> None:
    """Drop the half recorded graph and set recording back."""
    from ms_compat.moved import pynative_executor
    from ms_compat.probing.tape import patch_differentiation

    def change(differentiate: Callable[..., Any]) -> Callable[..., Any]:
        def run(*inputs: Any) -> Any:
            engine = pynative_executor()
            flag = engine.grad_flag()
            try:
                return differentiate(*inputs)
            except BaseException:
                engine.clear_res()
                engine.set_grad_flag(flag)
                raise

        return run

    patch_differentiation(change)


FEATURE = Feature(
    name="value_and_grad_survives_exception",
    question="Is recording off again after the forward of value_and_grad raised?",
    matters=(
        "A loop that catches an error and goes on (a bad batch, a failed assertion, a test suite, a notebook) has "
        "every later operator on a Parameter recorded, in evaluation as well. Graphs are kept that nobody runs back, "
        "and under saved-tensor hooks each later step leaves Tensors behind."
    ),
    harm=Harm.GROWS,
    symptom=(
        "memory grows after an exception in a training step was caught; evaluation needs more memory than before; "
        "saved_tensors_hooks are called outside of value_and_grad"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.value_and_grad",
        action=(
            "Use ms_compat.value_and_grad and ms_compat.grad. With MindSpore's own, call "
            "_pynative_executor.clear_res() after an exception in the forward."
        ),
        cost="a try block per gradient call",
    ),
    groups=("tape", "errors"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "mindspore/graph/api.py: _PyNativeExecutor.clear_res",
        "mindspore/ops/composite/base.py: _Grad._pynative_forward_run",
    ),
    counterproof=counterproof,
)
