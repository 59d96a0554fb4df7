"""What a comparison runs: for each feature with a drop-in one training step, the native way and the shim's."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    #: Takes the number of the step and returns its gradients.
    Step = Callable[[int], Sequence[Any]]
    #: Takes whether to use the workaround, the number of layers and their width.
    Workload = Callable[[bool, int, int], Step]

__all__ = ["WORKLOADS", "residual_mlp"]


def residual_mlp(layers: int, size: int, *, dropout: float = 0.0) -> Any:
    """Residual blocks of two dense layers, each a Cell with weights that are the same in every process."""
    import mindspore
    import numpy as np
    from mindspore import mint, nn

    random = np.random.default_rng(0)

    class Block(nn.Cell):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.up, self.down = nn.Dense(size, size), nn.Dense(size, size)
            self.dropout = nn.Dropout(p=dropout)
            for parameter in self.trainable_params():
                values = random.normal(scale=size**-0.5, size=parameter.shape).astype(np.float32)
                parameter.set_data(mindspore.Tensor(values))

        def construct(self, x: Any) -> Any:
            hidden = mint.nn.functional.relu(self.up(x))
            return x + self.down(self.dropout(hidden) if dropout else hidden)

    cells = nn.CellList([Block() for _ in range(layers)])
    cells.set_train()
    return cells


def _batch(number: int, size: int) -> Any:
    import mindspore
    import numpy as np

    values = np.random.default_rng(number).normal(size=(8, size)).astype(np.float32)
    return mindspore.Tensor(values)


def _recomputing(layers: int, size: int, run: Callable[[Any, Any], Any], *, dropout: float = 0.0) -> Step:
    """Training of an MLP whose every block goes through ``run(block, x)``."""
    import mindspore

    cells = residual_mlp(layers, size, dropout=dropout)

    def forward(x: Any) -> Any:
        for cell in cells:
            x = run(cell, x)
        return (x * x).mean()

    gradient = mindspore.value_and_grad(forward, grad_position=0, weights=cells.trainable_params())

    def step(number: int) -> Sequence[Any]:
        _, (inputs, weights) = gradient(_batch(number, size))
        return [inputs, *weights]

    return step


def _recompute(with_shim: bool, layers: int, size: int, *, reentrant: bool = False, dropout: float = 0.0) -> Step:
    import mindspore

    import ms_compat

    chosen = ms_compat.recompute if with_shim else mindspore.recompute
    run = functools.partial(chosen) if reentrant else functools.partial(chosen, use_reentrant=False)
    return _recomputing(layers, size, run, dropout=dropout)


def _recompute_under_tape(with_shim: bool, layers: int, size: int, *, reentrant: bool = False) -> Step:
    import mindspore

    import ms_compat
    from ms_compat.probing.workloads import backward, recording

    chosen = ms_compat.recompute if with_shim else mindspore.recompute
    cells = residual_mlp(layers, size)
    for parameter in cells.trainable_params():
        parameter.requires_grad_()

    def step(number: int) -> Sequence[Any]:
        with recording():
            x = start = _batch(number, size)
            start.requires_grad_()
            for cell in cells:
                x = chosen(cell, x, use_reentrant=reentrant)
            backward((x * x).mean())
            return [start._grad]

    return step


def _saved_tensors(with_shim: bool, layers: int, size: int, *, hooks: bool) -> Step:
    """Backwards through graphs that were retained, with or without identity hooks of the user's own."""
    import contextlib

    from mindspore import mint

    import ms_compat
    from ms_compat.probing.workloads import backward, identity, recording, saved_tensors_hooks

    def around() -> Any:
        if hooks:
            return (ms_compat.saved_tensors_hooks if with_shim else saved_tensors_hooks)(identity, identity)
        return ms_compat.detach_saved_tensors() if with_shim else contextlib.nullcontext()

    def step(number: int) -> Sequence[Any]:
        with recording():
            start = _batch(number, size)
            start.requires_grad_()
            x = start * 0.1
            with around():
                for _ in range(layers):
                    x = mint.exp(x * 0.1)
            backward(x.sum(), retain_graph=True)
            return [start._grad]

    return step


def _hooks(with_shim: bool, layers: int, size: int) -> Step:
    from mindspore import mint

    import ms_compat
    from ms_compat.probing.workloads import backward, recording

    def register(tensor: Any) -> None:
        (ms_compat.register_hook if with_shim else type(tensor).register_hook)(tensor, lambda gradient: gradient * 1.0)

    def step(number: int) -> Sequence[Any]:
        with recording():
            start = _batch(number, size)
            start.requires_grad_()
            x = start * 0.1
            for _ in range(layers):
                x = mint.exp(x * 0.1)
                register(x)
            backward(x.sum())
            return [start._grad]

    return step


#: By feature. The native arm shows what the feature's verdict says, the other what its remedy does about it.
WORKLOADS: dict[str, Workload] = {
    "recompute_releases_tensors": _recompute,
    "recompute_repeats_dropout": functools.partial(_recompute, dropout=0.5),
    "recompute_under_run_backward": _recompute_under_tape,
    "reentrant_recompute_releases_memory": functools.partial(_recompute, reentrant=True),
    "reentrant_recompute_under_run_backward": functools.partial(_recompute_under_tape, reentrant=True),
    "saved_tensor_unpack_detaches": functools.partial(_saved_tensors, hooks=False),
    "saved_tensors_hooks_detach_output": functools.partial(_saved_tensors, hooks=True),
    "hook_handle_drop_releases": _hooks,
}
