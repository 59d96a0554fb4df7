"""Two threads inside value_and_grad at the same time, the first to enter being the first to finish."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Let two value_and_grad calls overlap without one lying inside the other."""
    import mindspore
    from mindspore import ops

    from ms_compat.probing.threads import LONGEST_WAIT, both
    from ms_compat.probing.workloads import POINT, SLOPE, curve, first_line, tensor

    inside = [threading.Event(), threading.Event()]
    first_is_done = threading.Event()

    def differentiate(place: int, wait_for: threading.Event) -> Any:
        def forward(x: Any) -> Any:
            square = ops.mul(x, x)
            inside[place].set()
            wait_for.wait(LONGEST_WAIT)
            return ops.exp(square)

        return mindspore.value_and_grad(forward)(tensor(POINT))[1]

    def first() -> Any:
        try:
            return differentiate(0, inside[1])
        finally:
            first_is_done.set()
            inside[0].set()

    def second() -> Any:
        inside[0].wait(LONGEST_WAIT)
        try:
            return differentiate(1, first_is_done)
        finally:
            inside[1].set()

    results = both(first, second)
    alone = float(mindspore.value_and_grad(curve)(tensor(POINT))[1].asnumpy()[0])
    if abs(alone - SLOPE) > 1e-3:
        raise RuntimeError(f"a later value_and_grad on its own gives {alone:.4f} instead of {SLOPE:.4f}")
    errors = [first_line(result) for result in results if isinstance(result, RuntimeError)]
    right = sum(
        isinstance(result, mindspore.Tensor) and abs(float(result.asnumpy()[0]) - SLOPE) < 1e-3 for result in results
    )
    return Finding(
        right == len(results),
        f"{right} of 2 overlapping calls give the right gradient"
        + (f", and one raises: {errors[0]}" if errors else ""),
        {"right": right, "calls": len(results), "error": errors[0] if errors else None},
    )


def counterproof() -> None:
    """Differentiate on the tape, whose graphs do not stand on one stack."""
    import mindspore

    from ms_compat.moved import pynative_executor
    from ms_compat.probing.workloads import backward, leaf

    def value_and_grad(function: Callable[..., Any]) -> Callable[..., Any]:
        def differentiate(x: Any) -> Any:
            # Never off again: up to 2.9 that would reach into the other thread.
            pynative_executor().set_grad_flag(True)
            own = leaf(*x.asnumpy().tolist())
            value = function(own)
            backward(value)
            return value, own._grad

        return differentiate

    mindspore.value_and_grad = value_and_grad


FEATURE = Feature(
    name="value_and_grad_in_two_threads",
    question="Can two threads be inside value_and_grad at the same time?",
    matters=(
        "value_and_grad keeps its unfinished graphs on one stack for the process. When two threads overlap, each can "
        "end the other one's graph: both fail, and under load a call was also seen to return something that is no "
        "gradient, or to take the process down. Whoever trains two models, or a pipeline's stages, in threads is hit."
    ),
    harm=Harm.FAILS,
    symptom=(
        "RuntimeError: Can not find top cell for backward, please check your network whether set grad or input, or The "
        "pointer[top_cell_] is null, with more than one thread"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Hold one threading.Lock round every value_and_grad and grad call of the process, forward included, or "
            "give each model a process of its own."
        ),
        cost="gradients are computed one after the other",
    ),
    groups=("threads",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/ccsrc/pynative/backward/top_cell.cc", "mindspore/graph/api.py: _PyNativeExecutor"),
    counterproof=counterproof,
)
