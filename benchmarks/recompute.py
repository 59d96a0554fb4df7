"""What ``ms_compat.recompute`` costs, as ratios to MindSpore's own and to no recompute in the same run.

Run in an environment with MindSpore: ``python benchmarks/recompute.py``. Step times are medians of steps that take
turns.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

LAYERS = 6
ROUNDS = 40
SIZES = {"small, 64 wide": (64, 8), "compute-bound, 1024 wide": (1024, 256)}


def arms(size: int, rows: int) -> dict[str, Callable[[], Any]]:
    import mindspore
    import numpy as np

    import ms_compat
    from ms_compat.comparison.workloads import residual_mlp

    cells = residual_mlp(LAYERS, size)
    batch = mindspore.Tensor(np.random.default_rng(0).normal(size=(rows, size)).astype(np.float32))

    def training(run: Callable[[Any, Any], Any]) -> Callable[[], Any]:
        def forward(x: Any) -> Any:
            for cell in cells:
                x = run(cell, x)
            return (x * x).mean()

        gradient = mindspore.value_and_grad(forward, 0, cells.trainable_params())

        def step() -> None:
            _, (inputs, weights) = gradient(batch)
            for found in (inputs, *weights):
                found.asnumpy()

        return step

    native = mindspore.recompute
    found = {
        "no recompute": training(lambda cell, x: cell(x)),
        "native": training(lambda cell, x: native(cell, x, use_reentrant=False)),
        "ms_compat": training(lambda cell, x: ms_compat.recompute(cell, x, use_reentrant=False)),
    }
    if ms_compat.features.recompute_early_stop_control:
        found["native, early_stop=False"] = training(
            lambda cell, x: native(cell, x, use_reentrant=False, early_stop=False)
        )
    return found


def start() -> None:
    import mindspore

    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    mindspore.set_device("CPU")


def times(size: int, rows: int) -> dict[str, float]:
    steps = arms(size, rows)
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(ROUNDS + 5):
        for name, step in steps.items():
            began = time.perf_counter()
            step()
            if number >= 5:
                seconds[name].append(time.perf_counter() - began)
    return {name: statistics.median(found) for name, found in seconds.items()}


def main() -> None:
    import mindspore

    start()
    print(
        f"MindSpore {mindspore.__version__}, {LAYERS} residual blocks of two dense layers, {ROUNDS} steps of each arm"
    )
    for label, (size, rows) in SIZES.items():
        found = times(size, rows)
        print(f"\n{label}")
        for name, seconds in found.items():
            print(
                f"  {name:<26} {seconds * 1e3:8.2f} ms  {seconds / found['native']:5.2f} x native"
                f"  {seconds / found['no recompute']:5.2f} x none"
            )


if __name__ == "__main__":
    main()
