"""Tensor._version right after an in-place write, while the write is still in the pipeline."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_TRIES = 40
#: Operations queued before each write, so that it has not run yet when the version is read.
_BACKLOG = 50


def probe() -> Finding:
    """Read the version of a Tensor right after copy_, behind a backlog, and again when the pipeline has run."""
    from mindspore import ops

    from ms_compat.probing.tensors import tensor_method
    from ms_compat.probing.workloads import drain, tensor

    tensor_method("_version")
    filler, source = tensor(1.0), tensor(4.0)
    stale = 0
    tries = 0
    while tries < _TRIES and not stale:
        tries += 1
        x = ops.mul(tensor(1.0), source)
        drain()
        before = x._version
        for _ in range(_BACKLOG):
            filler = ops.mul(filler, filler)
        x.copy_(source)
        at_once = x._version
        drain()
        if x._version != before + 1:
            raise RuntimeError(f"copy_ takes the version from {before} to {x._version}, not up by one")
        stale += at_once == before
    return Finding(
        not stale,
        f"{'a' if stale else 'no'} read of _version right after copy_ gave the version before it",
        {"stale": bool(stale), "most_tries": _TRIES},
    )


def counterproof() -> None:
    """Wait for the pipeline before the version is read."""
    import mindspore

    from ms_compat.probing.workloads import drain

    original = mindspore.Tensor._version

    def version(self: object) -> int:
        drain()
        return int(original.__get__(self))

    mindspore.Tensor._version = property(version)


FEATURE = Feature(
    name="version_read_is_synchronous",
    question="Does Tensor._version count an in-place write as soon as the call has returned?",
    matters=(
        "Selective checkpointing and activation swap compare versions to notice that a saved tensor was changed. "
        "The count goes up when the pipeline runs the write, mostly after the comparison, so a change is missed or "
        "a stale version is stored and later reported as a change."
    ),
    harm=Harm.WRONG,
    symptom="a changed tensor passes the _version check now and then; the check fails without a reason on another run",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.version",
        action="Read it with ms_compat.version(tensor), or call tensor.wait_pipeline() before tensor._version.",
        cost="waits until the pipeline has run what was queued before",
    ),
    groups=("inplace", "saved_tensors"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore.Tensor._version (native)",
        "hyper_parallel/platform/mindspore/activation_checkpoint/sac.py: val._version",
    ),
    counterproof=counterproof,
)
