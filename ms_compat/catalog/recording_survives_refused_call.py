"""An operation that refuses its arguments switches grad recording off."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Catch the TypeError of an operation in a forward, go on with another one, and run the backward."""
    from mindspore import ops

    from ms_compat.moved import pynative_executor
    from ms_compat.probing.workloads import curve, differentiate_on_tape, wake_numpy

    wake_numpy()
    flags: list[bool] = []

    def with_fallback(x: Any) -> Any:
        try:
            return ops.add(x, object())
        except TypeError:
            flags.append(bool(pynative_executor().grad_flag()))
            return curve(x)

    finding = differentiate_on_tape(with_fallback)
    if not flags:
        raise RuntimeError("an operation on a Tensor and an object() raised no TypeError")
    return Finding(
        finding.holds,
        f"recording is {'on' if flags[0] else 'off'} after a caught TypeError, and for a forward that goes on "
        f"{finding.summary}",
        {"recording_after_error": flags[0], **finding.evidence},
    )


def counterproof() -> None:
    """Refuse the argument before MindSpore's executor sees it."""
    import mindspore
    from mindspore import ops

    original = ops.add

    def add(left: Any, right: Any) -> Any:
        if not isinstance(right, (mindspore.Tensor, int, float)):
            raise TypeError(f"a Tensor cannot be added to a {type(right).__name__}")
        return original(left, right)

    ops.add = add


FEATURE = Feature(
    name="recording_survives_refused_call",
    question="Is grad recording still on after an operation raised and the exception was caught?",
    matters=(
        "Code that tries a fast operation and falls back to another one, or asks whether two things can be added, "
        "loses the graph of that forward. HyperParallel switches recording on once, at import: after one caught "
        "TypeError nothing is recorded any more in the whole run. Errors in Python code and in indexing do no harm."
    ),
    harm=Harm.FAILS,
    symptom=(
        "RuntimeError: The output tensor you provided doesn't requires grad and not have a grad_fn; Can not find top "
        "cell for backward; every step fails after a first exception that was handled"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Ask before the operation instead of catching its exception (isinstance, shape, dtype). Where one was "
            "caught start the forward again, inside ms_compat.grad_recording(), which switches recording on."
        ),
        cost="the forward runs again where an exception was caught",
    ),
    groups=("tape", "errors"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "mindspore/graph/api.py: _PyNativeExecutor.set_grad_flag",
        "hyper_parallel/platform/mindspore/autograd_compat.py: set_grad_flag(True) at import",
    ),
    counterproof=counterproof,
)
