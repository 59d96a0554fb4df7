"""What replaying a block takes of MindSpore, found once, wherever the installed release keeps it."""

from __future__ import annotations

import contextlib
import functools
import importlib
from typing import TYPE_CHECKING, Any

from ms_compat.moved import compiled, pynative_executor, saved_tensors_hooks_class

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Names", "names"]


class Names:
    """MindSpore's names, under one name each on every release from 2.8 on."""

    def __init__(self) -> None:
        mindspore = importlib.import_module("mindspore")
        generator = importlib.import_module("mindspore.common.generator")
        native = importlib.import_module("mindspore.common.recompute")
        self.native = native
        self.executor = pynative_executor()
        self.tensor = mindspore.Tensor
        self.saved_tensors_hooks = saved_tensors_hooks_class()
        # Shares storage and version counter, at a tenth of the price of ``ops.stop_gradient``.
        self.detach = compiled("pyboost_detach")
        self.get_rng_state, self.set_rng_state = generator.get_rng_state, generator.set_rng_state
        self.kernel_seeds = importlib.import_module("mindspore.common.seed")._KERNEL_SEED
        self._amp = importlib.import_module("mindspore._c_expression.amp")
        self._amp_decorator = importlib.import_module("mindspore.train.amp").AmpDecorator
        self._float32 = mindspore.float32
        self.amp_strategy = self._amp.get_curr_amp_strategy
        # From 2.9 on.
        self.new_empty_graph = getattr(self.executor, "new_empty_graph", _nothing)
        self.end_empty_graph = getattr(self.executor, "end_empty_graph", _nothing)
        # From 2.10 on: a pipeline scheduler collects the calls, replays them early and keeps them for two backwards.
        self.session = native._recompute_session.get if hasattr(native, "_recompute_session") else _nothing
        collector = getattr(native, "_recompute_handle_collector", None)
        self.handle_collector = _nothing if collector is None else collector.get
        function = importlib.import_module("mindspore.common._grad_function")._Function
        self.input_saver, self.output_saver = _savers(function, self.detach)
        self.output_savers = (self.output_saver, native._OutputSaver)
        self.anchor = mindspore.Tensor([], mindspore.float32)
        self.anchor.requires_grad_()

    def amp_as(self, strategy: Any) -> contextlib.AbstractContextManager[Any]:
        """The mixed precision of the forward, also if that was none and the backward runs within some."""
        if strategy is not None:
            lists = strategy.get_white_list(), strategy.get_black_list()
            decorator = self._amp_decorator(strategy.get_amp_level(), strategy.get_amp_dtype(), *lists)
        elif self.amp_strategy() is not None:
            decorator = self._amp_decorator(self._amp.AmpLevel.AmpO0, self._float32, [], [])
        else:
            return contextlib.nullcontext()
        context: contextlib.AbstractContextManager[Any] = decorator
        return context


@functools.cache
def names() -> Names:
    """MindSpore's names; imports MindSpore."""
    return Names()


def _nothing() -> None:
    return None


def _savers(function: type, detach: Callable[[Any], Any]) -> tuple[Any, Any]:
    class InputSaver(function):  # type: ignore[misc]
        """Hands tensors to the hooks that are active, without computing anything."""

        @staticmethod
        def forward(ctx: Any, anchor: Any, *tensors: Any) -> Any:
            ctx.save_for_backward(*tensors)
            return detach(anchor)

        @staticmethod
        def backward(_ctx: Any, *_gradients: Any) -> Any:
            raise AssertionError("nothing is computed from the output of this function")

    class OutputSaver(function):  # type: ignore[misc]
        """Makes the output of a block one of the tensors that the block saves."""

        @staticmethod
        def forward(ctx: Any, tensor: Any) -> Any:
            output = detach(tensor)
            ctx.save_for_backward(output)
            return output

        @staticmethod
        def backward(_ctx: Any, *gradients: Any) -> Any:
            return gradients

    return InputSaver, OutputSaver
