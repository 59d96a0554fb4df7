"""On CPU, set_rng_state does not bring back the numbers that were drawn from that state."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Set one random state twice and draw from several random operators after each."""
    import mindspore

    from ms_compat.probing.tape import not_repeated, random_operators, random_state_kept

    with random_state_kept():
        state = mindspore.get_rng_state()
        draws = random_operators()
        differing = not_repeated(lambda: mindspore.set_rng_state(state), draws)
    return Finding(
        not differing,
        f"{len(differing)} of {len(draws)} random operators draw other numbers after set_rng_state with the same state"
        + (f": {', '.join(differing)}" if differing else ""),
        {"differing": ", ".join(differing) or None, "operators": len(draws)},
    )


def counterproof() -> None:
    """Seed everything with the seed that the state starts with."""
    import mindspore

    native = mindspore.set_rng_state

    def set_rng_state(state: Any) -> None:
        native(state)
        mindspore.set_seed(int(state.asnumpy()[0]))

    mindspore.set_rng_state = set_rng_state


FEATURE = Feature(
    name="rng_state_repeats_random_operators",
    question="Do random operators draw the same numbers again after set_rng_state with the same state?",
    matters=(
        "Resuming from a checkpoint, recompute and comparing two runs save the random state and set it again. On CPU "
        "no operator draws from it: each kernel has a generator of its own. The state is set without an error and "
        "dropout masks and noise are others, so a resumed run or a replay is not the one it should be."
    ),
    harm=Harm.WRONG,
    symptom="on CPU, results differ after mindspore.set_rng_state(mindspore.get_rng_state()); a resumed run diverges",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "On CPU, call mindspore.set_seed(n) with a seed of its own at each point that is to be repeated, e.g. at "
            "the start of every step, or keep what was drawn. Inside recomputed blocks use ms_compat.recompute, which "
            "keeps it."
        ),
        cost="set_seed also seeds numpy and the initializers",
    ),
    groups=("rng",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/common/generator.py: set_rng_state", "mindspore/common/seed.py: _get_op_seed"),
    counterproof=counterproof,
)
