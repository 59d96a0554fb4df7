"""manual_seed seeds neither the random operators on CPU nor the initializers of Parameters."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Seed with the same number twice, and draw and initialize after each."""
    import mindspore
    from mindspore import nn

    from ms_compat.probing.tape import not_repeated, random_operators, random_state_kept

    with random_state_kept():
        draws = {**random_operators(), "weights of nn.Dense": lambda: nn.Dense(8, 8).weight}
        differing = not_repeated(lambda: mindspore.manual_seed(11), draws)
    return Finding(
        not differing,
        f"{len(differing)} of {len(draws)} random sources give other numbers after manual_seed with the same seed"
        + (f": {', '.join(differing)}" if differing else ""),
        {"differing": ", ".join(differing) or None, "sources": len(draws)},
    )


def counterproof() -> None:
    """Seed everything."""
    import mindspore

    native = mindspore.manual_seed

    def manual_seed(seed: int) -> None:
        native(seed)
        mindspore.set_seed(seed)

    mindspore.manual_seed = manual_seed


FEATURE = Feature(
    name="manual_seed_repeats_random_operators",
    question="Do weights and random operators repeat after manual_seed with the same seed?",
    matters=(
        "Who knows torch.manual_seed seeds a run with mindspore.manual_seed and believes it repeatable. It seeds the "
        "default generator, which on CPU no random operator reads and no initializer on any device: two runs start "
        "from other weights, and ranks that should start alike do not."
    ),
    harm=Harm.WRONG,
    symptom="two runs with the same mindspore.manual_seed give different losses; replicas start from different weights",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Call mindspore.set_seed(seed) as well: it seeds numpy, the initializers and the random operators on CPU."
        ),
        cost="none; numpy's random state changes",
    ),
    groups=("rng",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/common/generator.py: manual_seed",
        "mindspore/common/initializer.py: _init_random_normal",
        "mindspore/common/seed.py: set_seed",
    ),
    counterproof=counterproof,
)
