"""The shards of a shuffled dataset fit together only where every rank has set the same seed."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_ROWS, _RANKS = 20, 2


def probe() -> Finding:
    """Read both shards of a dataset, each with the seed its rank has set, and count the rows that nobody read."""
    import mindspore.dataset as data
    import numpy as np

    numbers = [np.array(row) for row in range(_ROWS)]

    def covered(seeds: tuple[int, ...]) -> int:
        rows: set[int] = set()
        for rank, seed in enumerate(seeds):
            data.config.set_seed(seed)  # mindspore.set_seed does the same
            shard = data.GeneratorDataset(numbers, ["row"], num_shards=_RANKS, shard_id=rank, shuffle=True)
            rows.update(int(found["row"]) for found in shard.create_dict_iterator(num_epochs=1, output_numpy=True))
        return len(rows)

    before = data.config.get_seed()
    try:
        same, own = covered((1, 1)), covered((1, 2))
    finally:
        data.config.set_seed(before)
    if same != _ROWS:
        raise RuntimeError(f"with the same seed the shards cover {same} of {_ROWS} rows")
    return Finding(
        own == _ROWS,
        f"{_RANKS} shards of {_ROWS} shuffled rows cover {own} where each rank has its own seed, {same} with one seed",
        {"rows": _ROWS, "covered_own_seeds": own, "covered_same_seed": same},
    )


def counterproof() -> None:
    """Shuffle shards by a seed that is theirs."""
    import mindspore.dataset as data

    original = data.DistributedSampler.__init__

    def init(self: Any, *arguments: Any, **keywords: Any) -> None:
        original(self, *arguments, **keywords)
        self.seed = 0

    data.DistributedSampler.__init__ = init


FEATURE = Feature(
    name="shards_ignore_other_seeds",
    question="Do the shards of a shuffled dataset fit together where each rank has called set_seed with its own seed?",
    matters=(
        "Data-parallel scripts call set_seed(seed + rank) so that dropout differs between ranks. set_seed also sets "
        "the seed by which num_shards/shard_id shuffles: each rank then cuts its shard out of another order, and rows "
        "are read twice in an epoch and others never. torch's DistributedSampler has a seed of its own."
    ),
    harm=Harm.WRONG,
    symptom="some samples are seen by several ranks in an epoch and others by none; no error, slightly worse results",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Call mindspore.dataset.config.set_seed(seed) with the same number on every rank, after set_seed(seed + "
            "rank) and before the dataset is made."
        ),
        cost="nothing; random transforms of the dataset are then the same on every rank",
    ),
    groups=("data", "rng", "communication"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/dataset/engine/samplers.py: DistributedSampler",
        "mindspore/common/seed.py: set_seed",
    ),
    counterproof=counterproof,
)
