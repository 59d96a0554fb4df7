"""__ms_dispatch__ of a Tensor subclass, and whether MindSpore calls it."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Add with the subclass on either side and ask which additions it saw."""
    from mindspore import ops

    from ms_compat.probing.subclasses import dispatched
    from ms_compat.probing.workloads import tensor

    kind, seen = dispatched()
    results = [ops.add(kind(tensor(1.0)), tensor(2.0)), ops.add(tensor(1.0), kind(tensor(2.0)))]
    wrong = [result for result in results if float(result.asnumpy()[0]) != 3.0]
    if wrong:
        raise RuntimeError(f"{len(wrong)} of {len(results)} additions are wrong")
    return Finding(
        len(seen) == len(results),
        f"__ms_dispatch__ of the subclass was called for {len(seen)} of {len(results)} additions",
        {"dispatched": len(seen), "operations": len(results)},
    )


FEATURE = Feature(
    name="tensor_subclass_dispatch",
    question="Is __ms_dispatch__ of a Tensor subclass called for the operations on it?",
    matters=(
        "HyperParallel returns an AsyncCollectiveTensor from an asynchronous collective: its __ms_dispatch__ waits "
        "before the first operation that reads it. 2.8.0 makes the subclass and then silently never calls it, so "
        "operations read memory that the collective is still writing to."
    ),
    harm=Harm.WRONG,
    symptom="wrong or changing values after an asynchronous collective on 2.8.0; __ms_dispatch__ is never entered",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Wait for the handle at once and go on with the plain Tensor, and do without overlap; or give the subclass "
            "a __fallback__, which 2.8.0 does call."
        ),
        cost="communication does not overlap with computation",
        missing="Use MindSpore >= 2.9: below 2.8 a Tensor subclass that shares memory cannot be made.",
        remove_when=">=2.9",
    ),
    groups=("subclasses", "dispatch"),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=(
        "mindspore/utils/ms_dispatch.py: MsDispatchMode.__ms_dispatch__",
        "hyper-parallel: AsyncCollectiveTensor.__ms_dispatch__",
    ),
)
