"""_unsafe_preserve_version_counter sets the version back before the write in it has been counted."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_NAME = "_unsafe_preserve_version_counter"
#: Each try is one of these: seconds the pipeline rests first, and how many writes are made. Which of them loses the
#: race most surely depends on what else the machine does; mostly the first try does, the longest series took 70.
_WAYS = ((0.002, 1), (0.0, 3), (0.0005, 50), (0.001, 10))
_TRIES = 400


def probe() -> Finding:
    """Write inside the context over and over, and read the version when the writes have run."""
    import time

    from ms_compat.moved import graph_api
    from ms_compat.probing.workloads import drain, tensor

    preserve = getattr(graph_api(), _NAME, None)
    if preserve is None:
        raise ApiMissing(f"mindspore.graph.api.{_NAME}")
    source = tensor(4.0)
    counted = 0
    tries = 0
    while tries < _TRIES and not counted:
        rest, writes = _WAYS[tries % len(_WAYS)]
        tries += 1
        x = tensor(1.0)
        drain()
        before = x._version
        time.sleep(rest)
        with preserve(x):
            for _ in range(writes):
                x.copy_(source)
        drain()
        counted += x._version != before
    return Finding(
        not counted,
        f"{'a' if counted else 'no'} write inside the context changed the version",
        {"counted": bool(counted), "most_tries": _TRIES},
    )


def counterproof() -> None:
    """Wait for the pipeline before the version is set back."""
    from ms_compat.moved import graph_api
    from ms_compat.probing.workloads import drain

    context = getattr(graph_api(), _NAME)
    original = context.__exit__

    def leave(self: Any, *exception: Any) -> Any:
        drain()
        return original(self, *exception)

    context.__exit__ = leave


FEATURE = Feature(
    name="version_counter_preserving",
    question="Does _unsafe_preserve_version_counter keep the version of a Tensor that is written to inside it?",
    matters=(
        "A swapped or freed parameter is filled again right before the backward needs it, and the write must not "
        "count as a change. 2.10.0 brought the context, but it sets the version back while the write is still in "
        "the pipeline and is counted afterwards: a correct program fails on some of its steps."
    ),
    harm=Harm.FAILS,
    symptom=(
        "RuntimeError: One of the Tensor needed for gradient computation has been modified by an inplace operation, "
        "now and then, with activation swap or resharding after forward"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.preserve_version_counter",
        action=(
            "Use ms_compat.preserve_version_counter(tensor), or call tensor.wait_pipeline() as the last line inside "
            "MindSpore's own context."
        ),
        cost="waits until the pipeline has run the write",
        works_on=">=2.10",
        missing="Write with tensor.data.copy_(value), which does not change the version; there is no such context.",
    ),
    groups=("inplace", "saved_tensors"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/graph/api.py: _unsafe_preserve_version_counter",),
    counterproof=counterproof,
)
