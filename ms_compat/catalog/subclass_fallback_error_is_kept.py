"""An exception raised in __fallback__, as the caller of the operation sees it."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Raise in __fallback__ and catch outside."""
    from mindspore import ops

    from ms_compat.probing.subclasses import no_fallback_guard, wrapper
    from ms_compat.probing.workloads import first_line, tensor

    class NotSupportedError(Exception):
        pass

    kind = wrapper()
    no_fallback_guard()

    def fallback(*_: Any) -> Any:
        raise NotSupportedError("no rule for this operation")

    kind.__fallback__ = fallback
    try:
        ops.add(kind(tensor(1.0)), tensor(2.0))
    except NotSupportedError:
        return Finding(True, "what __fallback__ raised reaches the caller", {"error": None})
    except RuntimeError as error:
        said = first_line(error)
        return Finding(False, f"the caller sees RuntimeError: {said} instead of what was raised", {"error": said})
    raise RuntimeError("__fallback__ raised, but the operation returned")


FEATURE = Feature(
    name="subclass_fallback_error_is_kept",
    question="Does an exception raised in __fallback__ reach the caller?",
    matters=(
        "HyperParallel's DTensor says in an exception which operation it has no rule for and why. On 2.8 and 2.9 the "
        "caller sees only that a fallback failed, and a program that catches the error by its type does not."
    ),
    harm=Harm.FAILS,
    symptom="RuntimeError: Python fallback failed.",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Log the exception inside __fallback__ (logging.exception) before it leaves, and do not catch it by its "
            "type outside."
        ),
        cost="one log line per failure",
        missing="Use MindSpore >= 2.8 for Tensor subclasses with a __fallback__.",
        remove_when=">=2.10",
    ),
    groups=("subclasses", "errors"),
    spans=(Span(">=2.7.2,<2.10", False), Span(">=2.10,<2.11", True)),
    references=("mindspore/ccsrc/pynative/forward/pyboost/fallback.cc",),
)
