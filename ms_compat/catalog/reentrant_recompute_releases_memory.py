"""Each reentrant recompute wraps its block in a new Cell, whose native entry is never freed."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

#: Bytes per call; what stays is about 100, what a repaired one moves is below 15.
_THRESHOLD = 30.0


def probe() -> Finding:
    """Recompute a block without a gradient, against calling it."""
    from mindspore import ops

    from ms_compat.probing.growth import measure
    from ms_compat.probing.workloads import block, recording, reentrant, tensor

    checkpoint = reentrant()
    x = tensor(0.5)
    cell = block(ops.exp)
    # Without the random state, whose copies cost most of the time and are not the subject.
    with recording(on=False):  # while it is on, reentrant recompute raises (reentrant_recompute_under_run_backward)
        growth = measure(
            lambda: checkpoint(cell, x, save_rng_state=False), control=lambda: cell(x), steps=160, warmup=32
        )
    stays = max(0.0, growth.bytes_per_step)
    return Finding(
        not growth.bytes_exceed(_THRESHOLD),
        f"{stays:.0f} bytes per call stay behind (control without recompute 0)",
        {"bytes_per_call": round(stays), "calls": 3 * growth.steps},
    )


def counterproof() -> None:
    """Do not announce the wrapper Cell's inputs to the executor, or do so where MindSpore does not."""
    from ms_compat.probing.workloads import recompute_module

    wrapper = recompute_module()._WrapCell

    def announce_nothing(self: Any, *inputs: Any, **named: Any) -> None:
        """Stands in for Cell.set_inputs, which enters the Cell into a native map that nobody clears."""

    wrapper.set_inputs = announce_nothing


FEATURE = Feature(
    name="reentrant_recompute_releases_memory",
    question="Does a reentrant recompute free all native memory it takes?",
    matters=(
        "recompute() builds a new Cell round its block on every call and enters it into a native map that nobody "
        "clears: about 100 bytes per checkpointed layer and step, which a long run of a deep model turns into "
        "gigabytes."
    ),
    harm=Harm.GROWS,
    symptom="host memory grows by about 100 bytes per layer and step with reentrant recompute, and no Tensor is left",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.recompute",
        action=(
            "Call ms_compat.recompute, which takes the non-reentrant way, and refuses with the reason where a release "
            "has none."
        ),
        cost="what non-reentrant recompute costs: one pack hook per saved tensor of the block, the pipeline off inside",
        works_on=">=2.8",
        missing="Use MindSpore >= 2.8: older releases have no non-reentrant recompute.",
    ),
    groups=("recompute",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "hyper-parallel issue #660",
        "mindspore/common/recompute.py: _RecomputeCell.__init__",
        "mindspore/nn/cell.py: Cell.set_inputs",
    ),
    counterproof=counterproof,
)
