"""Early stop ends a replay before it sets the random state back that the backward found."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm
from ms_compat.probing.tape import WHOLE_REPLAY
from ms_compat.span import Span


def probe() -> Finding:
    """Move the random state on between forward and backward, and look which one is there after the backward."""
    import mindspore

    from ms_compat.probing.workloads import block, curve, recompute, tensor, value_and_grad

    checkpoint = recompute("use_reentrant")
    cell = block(curve)
    states: dict[str, list[int]] = {}

    def note(when: str) -> None:
        states[when] = mindspore.get_rng_state().asnumpy().tolist()

    def forward(x: object) -> object:
        output = checkpoint(cell, x, use_reentrant=False)
        mindspore.manual_seed(22)
        note("after the forward")
        return output

    found = mindspore.get_rng_state()
    try:
        mindspore.manual_seed(11)
        note("before the forward")
        value_and_grad(forward)(tensor(0.5))
        note("after the backward")
    finally:
        mindspore.set_rng_state(found)
    kept = states["after the backward"] == states["after the forward"]
    rewound = states["after the backward"] == states["before the forward"]
    return Finding(
        kept,
        f"the backward {'keeps' if kept else 'does not keep'} the random state it found"
        + (", it leaves that of before the forward" if rewound else ""),
        {"kept": kept, "rewound_to_the_forward": rewound},
    )


FEATURE = Feature(
    name="recompute_restores_rng",
    question="Does recompute's replay set the random state back that the backward found?",
    matters=(
        "The replay sets the random state of the block's forward, and its early stop skips the line that sets the "
        "other one back. Every step then ends with the random state of its first recomputed block, so the next step "
        "draws the numbers of this one again wherever operators draw from the default generator, as those of mint do "
        "on Ascend (read from the source, not measured; on CPU no operator draws from it)."
    ),
    harm=Harm.WRONG,
    symptom=(
        "with recompute(use_reentrant=False), mindspore.get_rng_state() is the same after every step; dropout masks "
        "repeat; no error is raised"
    ),
    probe=probe,
    remedy=WHOLE_REPLAY,
    groups=("recompute", "rng"),
    spans=(
        Span(">=2.7.2,<2.8", False, device="CPU"),
        Span(">=2.8,<2.9", True, device="CPU"),
        Span(">=2.9,<2.11", False, device="CPU"),
    ),
    references=("mindspore/common/recompute.py: recompute_without_reentrant.recompute_function",),
)
