"""Runs a block, keeps nothing it saved, and runs it again when the backward asks.

MindSpore's non-reentrant recompute replaces every tensor a block saves for the backward by a placeholder and runs the
block again when the backward asks for the first of them. From 2.9 on the replay is stopped by an exception raised
*inside* the hook that collects the saved tensors. It passes through an operator that has already made its Python
output, which is then never released: one Tensor for each block and step. It also ends the replay before anybody could
notice that it saved something else than the forward did.

Here the same is done with the public ``saved_tensors_hooks``; every replay runs to its end, and what it saved is
compared with what the forward saved. That costs the end of the replay, from the operator that saves the last tensor on.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from ms_compat.errors import RecomputeError
from ms_compat.shims.nesting import apply, same
from ms_compat.shims.random_outputs import Drawn, running
from ms_compat.shims.replay_names import names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["describe", "run_recomputed"]

#: What ``get_current_autodiff_engine_id`` answers when no backward runs.
_NO_BACKWARD = -1


def run_recomputed(
    block: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    output_recompute: bool,
    context_fn: Callable[[], tuple[Any, Any]] | None,
) -> Any:
    """Call a block so that it is run again in the backward instead of keeping what it saved."""
    keeps_random_state = kwargs.pop("save_rng_state", True)
    if not names().executor.enable_grad():
        return block(*args, **kwargs)
    call = _Call(
        block,
        args,
        kwargs,
        context_fn,
        output_recompute=output_recompute,
        keeps_random_state=keeps_random_state,
    )
    collected = names().handle_collector()
    if collected is not None:
        collected.append(call)
    return call.forward(args, kwargs)


class _Slot:
    """Stands for one saved tensor. The graph holds it; what it stands for exists only after a replay."""

    __slots__ = ("__weakref__", "values")

    def __init__(self) -> None:
        # By backward: a retained graph may be differentiated again, also while another backward runs. With the version
        # that the tensor had when it was saved.
        self.values: dict[Any, tuple[Any, int]] = {}


class _Saved(NamedTuple):
    """What can be seen of a saved tensor without waiting for its value."""

    shape: tuple[int, ...]
    dtype: Any

    @classmethod
    def of(cls, tensor: Any) -> _Saved:
        """What can be seen of a tensor."""
        return cls(tensor.shape, tensor.dtype)

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


class _Call:
    """One recomputed call: what its forward saved, and how to run it again.

    The hooks of this object are held by the graph, so it must never hold anything that was computed by the block with
    its graph attached: such a cycle passes through C++, where no collector sees it. ``recompute`` and ``clear_session``
    are what MindSpore 2.10 calls on a handle that it collected.
    """

    def __init__(
        self,
        block: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        context_fn: Callable[[], tuple[Any, Any]] | None,
        *,
        output_recompute: bool,
        keeps_random_state: bool,
    ) -> None:
        self._block = block
        self._contexts = (None, None) if context_fn is None else context_fn()
        self._output_recompute = output_recompute
        self._random_state = names().get_rng_state() if keeps_random_state else None
        self._drawn = Drawn(describe(block)) if keeps_random_state else None
        self._amp = names().amp_strategy()
        self._inputs = _Inputs(args, kwargs)
        self._slots: list[weakref.ref[_Slot]] = []
        self._saved: list[_Saved] = []
        self._complete = False
        self._backward: int | None = None

    def forward(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the block for the first time."""
        with names().saved_tensors_hooks(self._pack, self._unpack), running(self._drawn, replays=False):
            self._inputs.note_versions()
            result = _within(self._contexts[0], self._run, args, kwargs)
            self._inputs.note_versions()
        self._complete = True
        return result

    def recompute(self, key: Any) -> None:
        """Run the block again for the backward ``key``, unless that has been done."""
        if names().session() is not None:
            names().native._recompute_session_handles[key].add(self)
        if not any(key in slot.values for slot in self._live_slots()):
            self._replay(key)

    def clear_session(self, key: Any) -> None:
        """Forget what the replay for ``key`` computed."""
        for slot in self._live_slots():
            slot.values.pop(key, None)

    def _live_slots(self) -> Iterator[_Slot]:
        return (slot for slot in (reference() for reference in self._slots) if slot is not None)

    def _pack(self, tensor: Any) -> _Slot:
        slot = _Slot()
        self._slots.append(weakref.ref(slot))
        self._saved.append(_Saved.of(tensor))
        return slot

    def _unpack(self, slot: _Slot) -> Any:
        session = names().session()
        if session is None:
            key = names().executor.get_current_autodiff_engine_id()
            if key != self._backward:
                # What an earlier backward through a retained graph did not ask for is of no use to this one.
                self.clear_session(self._backward)
                self._backward = key
        else:
            key = session.session_id
        if key not in slot.values:
            self._replay(key)
        value, version = slot.values[key]
        if value._version != version:
            raise RecomputeError(
                f"recompute: {describe(self._block)} writes to a tensor ({_Saved.of(value)}) after saving it for the "
                "backward; MindSpore refuses that without recompute as well"
            )
        if session is None or not session.retain_on_unpack:
            del slot.values[key]
        if key == _NO_BACKWARD:
            # Read outside of a backward. The next such read may come after an optimizer step: keep nothing.
            self.clear_session(key)
        return value

    def _replay(self, key: Any) -> None:
        found: list[_Saved] = []

        def pack(tensor: Any) -> Any:
            index = len(found)
            found.append(_Saved.of(tensor))
            # Detached: the replay's own graph ends with the replay, and a tensor that it keeps must not keep it.
            value = names().detach(tensor) if tensor._requires_grad else tensor
            slot = self._slots[index]() if index < len(self._slots) else None
            if slot is not None:
                slot.values[key] = value, value._version
            return value

        try:
            args, kwargs = self._inputs.load()  # may make an enclosing block run again first
            if self._inputs.written():
                raise RecomputeError(
                    f"recompute: an input of {describe(self._block)} was written to between its forward and the "
                    "backward; running the block again would use the new value"
                )
            with (
                names().saved_tensors_hooks(pack, same),
                _recording(),
                self._random_numbers(),
                running(self._drawn, replays=True),
            ):
                _within(self._contexts[1], self._run_under_amp, args, kwargs)
                self._inputs.note_versions()
            # Not inside the hook: an exception raised there is exactly what leaks. While the forward itself still
            # runs (a block that takes a gradient inside), the replay sees more than was saved so far.
            if self._complete and found != self._saved:
                raise RecomputeError(self._mismatch(found))
        except BaseException:
            self.clear_session(key)
            raise

    def _run_under_amp(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        with names().amp_as(self._amp):
            self._run(args, kwargs)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = self._block(*args, **kwargs)
        return apply(names().tensor, names().output_saver.apply, result) if self._output_recompute else result

    @contextlib.contextmanager
    def _random_numbers(self) -> Iterator[None]:
        """The generator as the forward found it; afterwards everything as the replay found it."""
        if self._random_state is None:
            yield
            return
        state, seeds = names().get_rng_state(), dict(names().kernel_seeds)
        names().set_rng_state(self._random_state)
        try:
            yield
        finally:
            names().set_rng_state(state)
            names().kernel_seeds.clear()
            names().kernel_seeds.update(seeds)

    def _mismatch(self, found: list[_Saved]) -> str:
        expected = self._saved
        pairs = enumerate(zip(expected, found, strict=False))
        first = next((f"; the first difference is tensor {i}, {a} in the forward and {b} in the replay"
                      for i, (a, b) in pairs if a != b), "")  # fmt: skip
        return (
            f"recompute: running {describe(self._block)} again for the backward saved {len(found)} tensors, its "
            f"forward saved {len(expected)}{first}. The gradient would be computed from the wrong tensors. Usual "
            "causes: the block does something else the second time (a counter, a cache, random numbers from Python or "
            "numpy, train or eval mode), or requires_grad of an input or a parameter changed in between. MindSpore's "
            "own recompute with early_stop=True does not look and goes on with a gradient that may be wrong; if this "
            "difference does no harm, it is still worth removing."
        )


class _Inputs:
    """The arguments of a block, kept the way a saved tensor is kept."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        tensors: list[Any] = []

        def take(tensor: Any) -> _Index:
            tensors.append(tensor)
            return _Index(len(tensors) - 1)

        # Containers are copied: the block may change the caller's, and a cache that it fills would close a cycle.
        self._tree = apply(names().tensor, take, (args, kwargs))
        self._saver = None
        self._tensors: list[Any] = []
        if tensors and names().executor.is_saved_tensor_hook_active():
            # An enclosing recompute, or hooks of the caller that move activations elsewhere: theirs to keep.
            self._saver = names().input_saver.apply(names().anchor, *tensors)
        else:
            # The output of a block with output_recompute is computed again rather than kept.
            savers = names().output_savers
            self._tensors = [t._grad_node if isinstance(t._grad_node, savers) else t for t in tensors]
        self._versions: list[int | None] = []

    def note_versions(self) -> None:
        """Writes of the block itself are its own affair. Called while hooks are active: versions lag behind else."""
        self._versions = self._current_versions()

    def written(self) -> bool:
        """Whether an input was written to since its version was noted."""
        return self._current_versions() != self._versions

    def _current_versions(self) -> list[int | None]:
        savers = names().output_savers
        return [None if isinstance(kept, savers) else kept._version for kept in self._tensors]

    def load(self) -> Any:
        """Positional and keyword arguments."""
        if self._saver is not None:
            tensors = self._saver._grad_node.saved_tensors
        else:
            savers = names().output_savers
            tensors = [kept.saved_tensors[0] if isinstance(kept, savers) else kept for kept in self._tensors]
        return apply(_Index, tensors.__getitem__, self._tree)


class _Index(int):
    """Where a tensor of the arguments was taken out."""


def _within(context: Any, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function within a context, again and again if need be.

    A graph that is retained is replayed more than once, and what ``contextlib.contextmanager`` makes can be entered
    only once. Used as a decorator it makes itself anew for every call.
    """
    if context is None:
        return function(*args)
    if isinstance(context, contextlib.ContextDecorator):
        return context(functools.partial(function, *args))()
    with context:
        return function(*args)


@contextlib.contextmanager
def _recording() -> Iterator[None]:
    """Record a graph of its own, whatever the backward that asks for the replay has switched off.

    Without it nothing is saved in a replay under ``run_backward`` on 2.8 and 2.9 (`recompute_under_run_backward`).
    """
    executor = names().executor
    flags = executor.grad_flag(), executor.enable_grad()
    executor.set_grad_flag(True)
    executor.set_enable_grad(True)
    try:
        names().new_empty_graph()
        try:
            yield
        finally:
            names().end_empty_graph()
    finally:
        executor.set_grad_flag(flags[0])
        executor.set_enable_grad(flags[1])


def describe(block: Callable[..., Any]) -> str:
    """How messages name a block: its class or function, with the cell's parameter prefix or the place in the source."""
    owner = getattr(block, "__self__", block)
    name = getattr(block, "__qualname__", type(owner).__qualname__)
    prefix = getattr(owner, "param_prefix", "")
    if prefix:
        return f"{name} ({prefix!r})"
    code = getattr(block, "__code__", None)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code is not None else str(name)
