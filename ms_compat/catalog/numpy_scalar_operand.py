"""A numpy number as the right operand of a Tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def probe() -> Finding:
    """Add, multiply and subtract numpy numbers of three dtypes."""
    import numpy as np

    from ms_compat.probing.tensors import listing, numbers
    from ms_compat.probing.workloads import first_line, tensor

    x = tensor(1.5)
    calls: dict[str, Callable[[], Any]] = {
        "x + np.float32(2)": lambda: x + np.float32(2),
        "x * np.float32(2)": lambda: x * np.float32(2),
        "x - np.int64(2)": lambda: x - np.int64(2),
        "x * np.float16(2)": lambda: x * np.float16(2),
    }
    right = (3.5, 3.0, -0.5, 3.0)
    failed, error_text = [], None
    for (name, call), value in zip(calls.items(), right, strict=True):
        try:
            found = numbers(call())
        except (TypeError, ImportError, SystemError) as error:  # numpy 2: ImportError or SystemError the first time
            failed.append(name)
            error_text = first_line(error)
            continue
        if found != [value]:
            raise RuntimeError(f"{name} gives {found}, not {value}")
    return Finding(
        not failed,
        f"{len(failed)} of {len(calls)} operations with a numpy number on the right raise ({listing(failed)})",
        {"failed": listing(failed), "error": error_text, "operations": len(calls)},
    )


FEATURE = Feature(
    name="numpy_scalar_operand",
    question="Does a Tensor take a numpy number (np.float32(2), np.int64(2)) as its right operand?",
    matters=(
        "Learning rates, scales and sizes that come out of numpy are numpy numbers. From 2.8 on they work; 2.7.2 "
        "raises, and so does every release with numpy 2."
    ),
    harm=Harm.FAILS,
    symptom="TypeError: Failed calling Add with \"Add()(input=Tensor, other=<class 'numpy.float32'>)\"",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Turn it into a Python number: tensor + float(value), tensor * int(n).",
        cost="none",
    ),
    groups=("dtype",),
    spans=(Span(">=2.7.2,<2.8", False, device="CPU"), Span(">=2.8,<2.11", True, device="CPU")),
    references=("mindspore/common/tensor.py: Tensor.__add__",),
)
