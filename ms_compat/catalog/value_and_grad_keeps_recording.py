"""value_and_grad switches recording off at its end, also where a torch-style tape had switched it on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Call value_and_grad and grad while a tape records, and look whether the tape still records after each."""
    import mindspore
    from mindspore import ops

    from ms_compat.probing.workloads import curve, leaf, recording, tensor

    recorded: dict[str, bool] = {}
    for name in ("value_and_grad", "grad"):
        with recording():
            getattr(mindspore, name)(curve)(tensor(0.5))
            recorded[name] = bool(ops.exp(leaf(0.5))._requires_grad)
    stops = [name for name, still in recorded.items() if not still]
    return Finding(
        not stops,
        f"the tape {'no longer records' if stops else 'still records'} after {' and '.join(stops or recorded)}",
        {f"recorded_after_{name}": still for name, still in recorded.items()},
    )


def counterproof() -> None:
    """Set recording back to what it was."""
    from ms_compat.moved import pynative_executor
    from ms_compat.probing.tape import patch_differentiation

    def change(differentiate: Callable[..., Any]) -> Callable[..., Any]:
        def run(*inputs: Any) -> Any:
            engine = pynative_executor()
            flag = engine.grad_flag()
            try:
                return differentiate(*inputs)
            finally:
                engine.set_grad_flag(flag)

        return run

    patch_differentiation(change)


FEATURE = Feature(
    name="value_and_grad_keeps_recording",
    question="Does a tape that records still record after value_and_grad or grad was called?",
    matters=(
        "HyperParallel switches recording on once, when it is imported. One call of value_and_grad or grad anywhere "
        "(a metric, a gradient penalty, a library) switches it off for good: the next forward records nothing and its "
        "backward raises, or a part of the loss that was computed before it is trained and the rest is not."
    ),
    harm=Harm.FAILS,
    symptom=(
        "RuntimeError: The output tensor you provided doesn't requires grad and not have a grad_fn, after "
        "mindspore.grad or value_and_grad was used in the same process"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.value_and_grad",
        action=(
            "Use ms_compat.value_and_grad and ms_compat.grad, which set recording back to what it was. With "
            "MindSpore's own, call _pynative_executor.set_grad_flag(True) after each."
        ),
        cost="two calls per gradient",
    ),
    groups=("tape",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "mindspore/ops/composite/base.py: _Grad",
        "hyper_parallel/platform/mindspore/autograd_compat.py",
    ),
    counterproof=counterproof,
)
