"""Where the error of an operation that fails on the device is raised."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_FAILURE = "Gather"


def probe() -> Finding:
    """Gather an index that is not there; then wait."""
    from mindspore import Tensor, ops

    from ms_compat.probing.workloads import drain, first_line, tensor

    try:
        ops.gather(tensor(1.0, 2.0), Tensor([5]), 0)
    except RuntimeError as error:
        if _FAILURE not in str(error):
            raise
        return Finding(True, f"the call itself raises: {first_line(error)}", {"raised_by": "call"})
    try:
        drain()
    except RuntimeError as error:
        if _FAILURE not in str(error):
            raise
    else:
        raise RuntimeError("gathering index 5 of 2 raises neither at its call nor when the pipeline is waited for")
    return Finding(False, "the call returns, and what waits next raises its error", {"raised_by": "the next wait"})


def counterproof() -> None:
    """Let each operation wait for its end."""
    import mindspore

    mindspore.runtime.launch_blocking()


FEATURE = Feature(
    name="operator_error_is_raised_at_its_call",
    question="Is the error of a failing operation raised by its own call?",
    matters=(
        "Operations run behind the program. An index out of range, or whatever else only the kernel notices, is raised "
        "by the next call that waits: the traceback points to innocent code, often the print of a loss or a clean-up. "
        "Worse, it is raised once: code that catches it there and goes on can read the failed output, which holds "
        "arbitrary values, without an error."
    ),
    harm=Harm.WRONG,
    symptom="RuntimeError of an operator (For 'Gather', ...) with a traceback that does not call that operator",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "To find the place, call mindspore.runtime.launch_blocking() at the start, after set_device; the call that "
            "fails then raises. Do not go on with outputs that were made before a caught operator error."
        ),
        cost="every operation waits for its end, so use it to search and not to train",
    ),
    groups=("errors",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/runtime/executor.py: launch_blocking", "mindspore/ccsrc/pynative/utils/pynative_execute.cc"),
    counterproof=counterproof,
)
