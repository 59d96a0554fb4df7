"""What probes of the tape, of gradient functions and of recompute share."""

from __future__ import annotations

import contextlib
import functools
import importlib
from typing import TYPE_CHECKING, Any

from ms_compat.feature import ApiMissing, Path, Remedy
from ms_compat.moved import graph_api, pynative_executor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = [
    "WHOLE_REPLAY",
    "Deliberate",
    "computed_in",
    "final_callbacks_of",
    "hooks_switch",
    "leaving_mixed_precision",
    "not_repeated",
    "patch_differentiation",
    "random_operators",
    "random_state_kept",
    "recompute_nothing",
    "value",
]


#: What helps against everything that comes of a replay that is stopped early.
WHOLE_REPLAY = Remedy(
    path=Path.WORKAROUND,
    shim="ms_compat.recompute",
    action=(
        "Call ms_compat.recompute instead of mindspore.recompute; its replays run to their end. With MindSpore's own, "
        "early_stop=False does the same from 2.9 on."
    ),
    cost=(
        "the operators after a block's last saved tensor are replayed, which early stop would skip; a replay that "
        "saves something else than its forward is an error"
    ),
    works_on=">=2.8",
    missing="Use MindSpore >= 2.8: older releases have no non-reentrant recompute.",
)


class Deliberate(Exception):
    """Raised by a probe inside MindSpore to see what MindSpore does about it."""


def value(tensor: Any) -> float:
    """The first element of a Tensor, rounded for evidence."""
    return round(float(tensor.asnumpy().reshape(-1)[0]), 4)


def computed_in() -> str:
    """The precision in which an operator outside of every Cell computes on a float32 tensor."""
    from mindspore import ops

    from ms_compat.probing.workloads import tensor

    return str(ops.exp(tensor(0.5)).dtype)


@contextlib.contextmanager
def leaving_mixed_precision() -> Iterator[None]:
    """Take off what the block leaves of a Cell's mixed precision; an empty stack must not be popped, it crashes."""
    from mindspore.nn.cell import MixedPrecisionType

    try:
        yield
    finally:
        if computed_in() != "Float32":
            pynative_executor().set_mixed_precision_type(MixedPrecisionType.NOTSET, False)


def final_callbacks_of(queue: Callable[[Callable[[Callable[[], None]], None]], None]) -> None:
    """Run a backward on the tape in which a hook calls ``queue`` with the executor's way to queue a callback."""
    from mindspore import ops

    from ms_compat.probing.workloads import backward, leaf, recording

    with recording() as engine:
        if not hasattr(engine, "queue_backward_final_callback"):
            raise ApiMissing("mindspore.graph.api._pynative_executor.queue_backward_final_callback")
        x = leaf(0.5)
        handle = x.register_hook(lambda _: queue(engine.queue_backward_final_callback))
        backward(ops.exp(x))
        handle.remove()


def patch_differentiation(change: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put what ``change`` makes of it in the place of ``mindspore.grad`` and ``mindspore.value_and_grad``.

    For counterproofs. ``change`` gets the function that computes gradients and returns the one to use instead.
    """
    import mindspore

    for name in ("grad", "value_and_grad"):
        native = getattr(mindspore, name)

        def changed(*args: Any, native: Callable[..., Any] = native, **kwargs: Any) -> Any:
            return change(native(*args, **kwargs))

        setattr(mindspore, name, functools.wraps(native)(changed))


def hooks_switch() -> Any:
    """``_disable_saved_tensors_hooks``, wherever this release keeps it."""
    if not hasattr(graph_api(), "_disable_saved_tensors_hooks"):
        raise ApiMissing("mindspore.graph.api._disable_saved_tensors_hooks")
    return graph_api()._disable_saved_tensors_hooks


@contextlib.contextmanager
def random_state_kept() -> Iterator[None]:
    """Leave numpy's and MindSpore's random state, the seeds of cells to come included, as they were."""
    import mindspore
    import numpy as np

    seeds: Any = importlib.import_module("mindspore.common.seed")
    seed, kernels = seeds._GLOBAL_SEED, dict(seeds._KERNEL_SEED)
    state, numpy_state = mindspore.get_rng_state(), np.random.get_state()
    try:
        yield
    finally:
        mindspore.set_rng_state(state)
        np.random.set_state(numpy_state)
        seeds._GLOBAL_SEED = seed
        seeds._KERNEL_SEED.clear()
        seeds._KERNEL_SEED.update(kernels)


def not_repeated(reset: Callable[[], object], draws: dict[str, Callable[[], Any]]) -> list[str]:
    """Which of some random operators do not draw the same numbers again after a second ``reset``."""
    differing = []
    for name, draw in draws.items():
        reset()
        first = draw().asnumpy()
        reset()
        if (draw().asnumpy() != first).any():
            differing.append(name)
    return differing


def random_operators() -> dict[str, Callable[[], Any]]:
    """Random operators that have a kernel on CPU."""
    import mindspore
    from mindspore import Tensor, nn, ops

    from ms_compat.probing.workloads import tensor

    ones, low, high = tensor(*[1.0] * 64), Tensor(0.0, mindspore.float32), Tensor(1.0, mindspore.float32)
    return {
        "ops.standard_normal": lambda: ops.standard_normal((64,)),
        "ops.uniform": lambda: ops.uniform((64,), low, high),
        "ops.dropout": lambda: ops.dropout(ones, 0.5, training=True),
        "nn.Dropout": lambda: nn.Dropout(p=0.5).set_train()(ones),
    }


def recompute_nothing() -> None:
    """Run blocks once and keep what they save: right, and no memory is saved. For counterproofs."""
    import mindspore

    def recompute(block: Any, *args: Any, use_reentrant: bool = True, **kwargs: Any) -> Any:
        del use_reentrant
        return block(*args, **kwargs)

    mindspore.recompute = recompute
