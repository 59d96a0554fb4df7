"""Random operators in a recomputed block: the replay gets what the forward drew (`recompute_repeats_dropout`).

MindSpore's own replay sets the default generator back. On CPU no operator reads it: each random kernel has a generator
of its own, seeded when the kernel is made, that nothing can set back. So the outputs of random operators are kept in
the forward and handed out in the replay, and the forward draws what it would have drawn without recompute. The price
is the memory of those outputs until the backward. (Operators of ``mint`` on Ascend read the default generator, which
the replay sets back; they do not pass here.)
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
from typing import TYPE_CHECKING, Any

from ms_compat.errors import RecomputeError
from ms_compat.shims.nesting import apply, same
from ms_compat.shims.replay_names import names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Drawn", "in_first_run", "is_replaying", "running"]

_RANDOM_OPERATORS = frozenset(
    {
        "Bernoulli", "Dropout", "Dropout2D", "Dropout3D", "Gamma", "LogNormalReverse", "LogUniformCandidateSampler",
        "Multinomial", "MultinomialWithReplacement", "NonDeterministicInts", "ParameterizedTruncatedNormal", "Poisson",
        "RandomCategorical", "RandomChoiceWithMask", "RandomGamma", "RandomPoisson", "RandomShuffle", "Randperm",
        "RandpermV2", "StandardLaplace", "StandardNormal", "TruncatedNormal", "Uniform", "UniformCandidateSampler",
        "UniformInt", "UniformReal",
    }
)  # fmt: skip


class Drawn:
    """What the random operators of one block put out in its forward, in order.

    Args:
        block: how messages name the block.
    """

    def __init__(self, block: str) -> None:
        self.block = block
        self.outputs: list[tuple[str, Any]] = []


class _Run:
    """A block that runs in this thread, for the first time or again."""

    def __init__(self, drawn: Drawn | None, *, replays: bool) -> None:
        self.drawn = drawn
        self.replays = replays
        self._next = 0

    def next_output(self, operator: str) -> Any:
        """What the forward's next random operator put out.

        Raises:
            RecomputeError: that was another operator, or there was none.
        """
        assert self.drawn is not None
        outputs = self.drawn.outputs
        if self._next >= len(outputs) or outputs[self._next][0] != operator:
            raise RecomputeError(
                f"recompute: running {self.drawn.block} again for the backward asked for random operator {operator} as "
                f"number {self._next}; its forward ran {[name for name, _ in outputs]}"
            )
        self._next += 1
        return outputs[self._next - 1][1]


class _Kept:
    """An output of a random operator, without its graph."""

    __slots__ = ("requires_grad", "tensor")

    def __init__(self, tensor: Any) -> None:
        self.tensor = names().detach(tensor)
        self.requires_grad = tensor._requires_grad

    def restore(self) -> Any:
        """The output; it requires a gradient where it did, so that what follows saves the same tensors."""
        tensor = names().detach(self.tensor)
        if self.requires_grad:
            tensor.requires_grad_()
        return tensor


class _Runs(threading.local):
    """The blocks that run in a thread, innermost last."""

    def __init__(self) -> None:
        self.stack: list[_Run] = []


_runs = _Runs()


@contextlib.contextmanager
def running(drawn: Drawn | None, *, replays: bool) -> Iterator[None]:
    """A block runs in this thread inside the ``with`` block.

    Args:
        drawn: where its random outputs are kept, or None where the caller wants them drawn anew.
        replays: whether it runs again for a backward.
    """
    _watch_random_operators()
    _runs.stack.append(_Run(drawn, replays=replays))
    try:
        yield
    finally:
        _runs.stack.pop()


def is_replaying() -> bool:
    """Whether a block runs again in this thread."""
    return any(run.replays for run in _runs.stack)


def in_first_run() -> bool:
    """Whether the innermost recomputed block of this thread runs for the first time."""
    return bool(_runs.stack) and not _runs.stack[-1].replays


@functools.cache
def _watch_random_operators() -> None:
    """Put a look at the operator's name into the one function through which every random operator is called."""
    primitive: Any = importlib.import_module("mindspore.ops.primitive")
    native = primitive._run_op

    @functools.wraps(native)
    def _run_op(obj: Any, op_name: str, args: Any) -> Any:
        if op_name in _RANDOM_OPERATORS and _runs.stack:
            return _run_random(op_name, lambda: native(obj, op_name, args))
        return native(obj, op_name, args)

    primitive._run_op = _run_op


def _run_random(operator: str, run: Callable[[], Any]) -> Any:
    forwards: list[Drawn] = []
    replay: _Run | None = None
    for one in reversed(_runs.stack):
        if one.drawn is None:
            continue
        if one.replays:
            replay = one
            break
        forwards.append(one.drawn)
    if replay is not None:
        kept = replay.next_output(operator)
        output = apply(_Kept, _Kept.restore, kept)
    elif forwards:
        # What this operator saves it keeps itself, so that leaving it out of the replay leaves no gap.
        with names().saved_tensors_hooks(names().detach, same):
            output = run()
        kept = apply(names().tensor, _Kept, output)
    else:
        return run()
    for drawn in forwards:
        drawn.outputs.append((operator, kept))
    return output
