"""What several probes run on MindSpore: the torch-style tape, recomputed blocks, saved-tensor hooks.

Everything here leaves MindSpore's recording state as it found it, so that probes can run in any order in one process.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import math
from typing import TYPE_CHECKING, Any

from ms_compat.feature import ApiMissing, Finding
from ms_compat.moved import compiled, pynative_executor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "POINT",
    "SLOPE",
    "accepts",
    "backward",
    "block",
    "curve",
    "differentiate_on_tape",
    "drain",
    "first_line",
    "flip_early_stop",
    "identity",
    "leaf",
    "parameter",
    "recompute",
    "recompute_module",
    "recording",
    "reentrant",
    "saved_tensors_hooks",
    "settle",
    "tensor",
    "value_and_grad",
    "wake_numpy",
]

#: Where `curve` is differentiated, and its derivative there.
POINT = 0.5
SLOPE = math.exp(0.25)


def drain() -> None:
    """Wait until MindSpore's pipeline has run and let go of everything it was handed."""
    pynative_executor().sync()


@contextlib.contextmanager
def recording(*, on: bool = True) -> Iterator[Any]:
    """Record gradients outside ``value_and_grad``, as a torch-style tape does, or do not; yields the executor."""
    engine = pynative_executor()
    flag, enabled = engine.grad_flag(), engine.enable_grad()
    engine.set_grad_flag(on)
    engine.set_enable_grad(True)
    try:
        yield engine
    finally:
        engine.set_is_run_recompute(False)  # a reentrant replay that fails leaves it on
        engine.set_enable_grad(enabled)
        engine.set_grad_flag(flag)


def backward(output: Any, *, start: Any = None, retain_graph: bool = False) -> None:
    """Run the torch-style tape back from an output, or what stands for one; call it inside `recording`.

    Args:
        output: the tensor, or the edge of a graph, to start from.
        start: the gradient to start with; ones where none is given.
        retain_graph: whether the graph may be run back again.
    """
    from mindspore import ops

    try:
        run_backward = compiled("run_backward")
    except AttributeError:
        raise ApiMissing("mindspore._c_expression.run_backward") from None
    start = ops.ones_like(output) if start is None else start
    run_backward((output,), (start,), retain_graph, False, (), allow_unreachable=True, accumulate_grad=True)


def value_and_grad(forward: Callable[..., Any]) -> Callable[..., Any]:
    """``mindspore.value_and_grad`` that leaves recording as it was.

    MindSpore's own switches it off at its end; after an exception in the forward it leaves it on, and every later
    gradient keeps its graph.
    """
    import mindspore

    differentiate = mindspore.value_and_grad(forward)

    def run(*inputs: Any) -> Any:
        engine = pynative_executor()
        flag = engine.grad_flag()
        try:
            return differentiate(*inputs)
        except BaseException:
            engine.clear_res()
            raise
        finally:
            engine.set_grad_flag(flag)

    return run


def tensor(*values: float) -> Any:
    """A float32 Tensor."""
    import mindspore

    return mindspore.Tensor(list(values), mindspore.float32)


def parameter(*values: float, name: str = "weight", requires_grad: bool = True) -> Any:
    """A float32 Parameter."""
    import mindspore

    return mindspore.Parameter(tensor(*values), name=name, requires_grad=requires_grad)


def leaf(*values: float) -> Any:
    """A float32 Tensor that wants a gradient."""
    fresh = tensor(*values)
    fresh.requires_grad_()
    return fresh


def _idle(expected: str) -> bool:
    """Wait for what is under way; False where it ended in the expected error."""
    try:
        drain()
    except RuntimeError as error:
        if expected not in str(error):
            raise
        return False
    return True


def settle(expected: str) -> None:
    """Wait after an error until nothing is under way, so that more of the kind come out here and not in later work."""
    for _ in range(10):
        if _idle(expected):
            return


@functools.cache
def wake_numpy() -> None:
    """Let the first operation of a process that takes a number or a shape fail where it does (numpy 2); others work.

    To be called before anything is recorded: an operation that raises may switch recording off.
    """
    import numpy as np

    with recording(on=False), contextlib.suppress(SystemError, ImportError, TypeError):
        tensor(1.0) + np.float32(1.0)


def identity(packed: Any) -> Any:
    """The unpack hook, and where it is the subject the pack hook, that changes nothing."""
    return packed


def block(body: Callable[..., Any]) -> Any:
    """A Cell that runs ``body``."""
    from mindspore import nn

    class Block(nn.Cell):  # type: ignore[misc]
        def construct(self, *inputs: Any) -> Any:
            return body(*inputs)

    return Block()


def curve(x: Any) -> Any:
    """exp(x * x), differentiated where only the gradient matters; the backward needs x, x and the output."""
    from mindspore import ops

    return ops.exp(ops.mul(x, x))  # with numpy 2, the first x * x of a process raises


def differentiate_on_tape(run: Callable[[Any], Any]) -> Finding:
    """Whether the torch-style tape finds the derivative of `curve`, run in some way, at `POINT`."""
    with recording():
        x = leaf(POINT)
        try:
            backward(run(x))
        except RuntimeError as error:
            return Finding(False, f"the tape raises: {first_line(error)}", {"error": first_line(error)})
        found = float(x._grad.asnumpy()[0])
    return Finding(
        abs(found - SLOPE) < 1e-3,
        f"the tape gives the gradient {found:.4f} (right: {SLOPE:.4f})",
        {"error": None, "gradient": round(found, 4), "right_gradient": round(SLOPE, 4)},
    )


def saved_tensors_hooks(pack: Callable[[Any], Any], unpack: Callable[[Any], Any] = identity) -> Any:
    """``mindspore.saved_tensors_hooks`` as a context manager."""
    import mindspore

    if not hasattr(mindspore, "saved_tensors_hooks"):
        raise ApiMissing("mindspore.saved_tensors_hooks")
    return mindspore.saved_tensors_hooks(pack, unpack)


def recompute_module() -> Any:
    """The module of recompute; the function of the same name hides it from an ordinary import."""
    return importlib.import_module("mindspore.common.recompute")


def accepts(function: Callable[..., Any], keyword: str) -> bool:
    """Whether a function names a keyword in its signature; a ``**kwargs`` that swallows it does not count."""
    return keyword in inspect.signature(function).parameters


def recompute(*keywords: str) -> Any:
    """``mindspore.recompute``, once its signature names every given keyword.

    A release that lacks one hands it on to the block, so it has to be looked for before it is passed.
    """
    import mindspore

    for keyword in keywords:
        if not accepts(mindspore.recompute, keyword):
            raise ApiMissing(f"mindspore.recompute({keyword}=)")
    return mindspore.recompute


def flip_early_stop() -> None:
    """Change recompute's early stop for good: off where MindSpore has one, on where it has none.

    For counterproofs, in a process that ends afterwards.
    """
    module = recompute_module()
    if hasattr(module, "_enable_recompute_early_stop"):
        module._enable_recompute_early_stop = False
        return
    original = module._RecomputationHook

    class Enough(Exception):
        pass

    class StoppingHook(original):  # type: ignore[misc, valid-type]
        """What 2.9 brought: once every saved tensor is there again, the pack hook raises and the replay ends."""

        pack_hook: Any

        def __init__(self, weak_state: Any, engine_id: Any) -> None:
            super().__init__(weak_state, engine_id)
            pack = self.pack_hook

            def pack_and_stop(saved: Any) -> Any:
                packed = pack(saved)
                if weak_state().placeholder_counter[engine_id] == len(weak_state().placeholders):
                    raise Enough
                return packed

            self.pack_hook = pack_and_stop

        def __exit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
            super().__exit__(kind, *rest)
            return kind is not None and issubclass(kind, Enough)

    module._RecomputationHook = StoppingHook


def reentrant() -> Any:
    """``mindspore.recompute``, reentrant whatever the release's default is."""
    function = recompute()
    return functools.partial(function, use_reentrant=True) if accepts(function, "use_reentrant") else function


def first_line(error: BaseException) -> str:
    """What an exception says, without the C++ stack MindSpore adds."""
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
