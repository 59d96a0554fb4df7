"""ForwardStash on the real MindSpore: however the forward runs, the backward gets the entry of its own forward."""

from __future__ import annotations

import contextlib
import gc
import importlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.real.conftest import InChild


class _Model:
    """A chain of custom functions; each forward stashes its number, each backward notes which number it was given."""

    def __init__(self, layers: int) -> None:
        from mindspore import mint

        from ms_compat import ForwardStash

        function = importlib.import_module("mindspore.common._grad_function")._Function
        stash: ForwardStash[tuple[int, int]] = ForwardStash("mindspore")
        model = self
        self.stash = stash
        self.forwards = 0
        self.given: list[tuple[int, int, int]] = []  # layer, forward that the context belongs to, forward of the entry
        self.failing_layer = -1
        self.layers = layers
        self.mint = mint

        class Scale(function):  # type: ignore[misc, valid-type]
            @staticmethod
            def forward(ctx: Any, x: Any, layer: int) -> Any:
                model.forwards += 1
                ctx.layer, ctx.number = layer, model.forwards
                ctx.save_for_backward(x, stash.push((layer, model.forwards), ctx if model.with_ctx else None))
                if layer == model.failing_layer:
                    raise ZeroDivisionError("half way")
                return x * 2.0

            @staticmethod
            def backward(ctx: Any, gradient: Any) -> Any:
                _, key = ctx.saved_tensors
                layer, number = stash.pop(key)
                assert layer == ctx.layer
                model.given.append((layer, ctx.number, number))
                return gradient * 2.0, None

        self.with_ctx = False
        self.scale = Scale.apply

    def layer(self, number: int) -> Any:
        return lambda x: self.mint.exp(self.scale(self.mint.exp(x * 0.1), number) * 0.1)

    def plain(self, x: Any) -> Any:
        for number in range(self.layers):
            x = self.layer(number)(x)
        return x.sum()

    def recomputed(self, x: Any, *, nested: bool = False) -> Any:
        from ms_compat import checkpoint

        for number in range(self.layers):
            inner = self.layer(number)
            x = checkpoint(lambda x, inner=inner: checkpoint(inner, x) * 1.0 if nested else inner(x), x)
        return x.sum()


def _input() -> Any:
    from ms_compat.probing.workloads import leaf

    return leaf(0.1, 0.2)


def plain_training() -> dict[str, Any]:
    import mindspore

    model = _Model(3)
    for _ in range(5):
        mindspore.grad(model.plain)(_input())
    return {"given": model.given, "left": len(model.stash)}


def recomputed_training(nested: bool) -> dict[str, Any]:
    import mindspore

    model = _Model(3)
    step = mindspore.grad(lambda x: model.recomputed(x, nested=nested))
    for _ in range(5):
        step(_input())
    return {"given": model.given, "left": len(model.stash), "forwards": model.forwards}


def two_micro_batches_in_flight(recomputed: bool) -> dict[str, Any]:
    from ms_compat.probing.workloads import backward, recording

    model = _Model(2)
    forward = model.recomputed if recomputed else model.plain
    with recording():
        first, second = forward(_input()), forward(_input())
        backward(first)
        third = forward(_input())
        backward(second)
        backward(third)
        given = list(model.given)
        del first, second, third
    gc.collect()
    return {"given": given, "left": len(model.stash)}


def evaluation(recomputed: bool) -> dict[str, Any]:
    model = _Model(3)
    for _ in range(5):
        model.plain(_input())
        if recomputed:
            model.recomputed(_input())
    gc.collect()
    return {"left": len(model.stash), "forwards": model.forwards}


def exception_half_way() -> dict[str, Any]:
    import mindspore

    model = _Model(3)
    model.failing_layer = 1
    for _ in range(3):
        with contextlib.suppress(ZeroDivisionError):
            mindspore.grad(model.plain)(_input())
    model.failing_layer = -1
    mindspore.grad(model.plain)(_input())
    gc.collect()
    return {"left": len(model.stash)}


def hooks_that_copy(with_ctx: bool) -> dict[str, Any]:
    import mindspore

    model = _Model(2)
    model.with_ctx = with_ctx

    def forward(x: Any) -> Any:
        with mindspore.saved_tensors_hooks(lambda saved: saved.asnumpy(), mindspore.Tensor):
            return model.plain(x)

    try:
        mindspore.grad(forward)(_input())
    except Exception as error:
        return {"error": str(error), "left": len(model.stash)}
    return {"given": model.given, "left": len(model.stash)}


def _lost_entry_is_loud(answer: dict[str, Any]) -> bool:
    return "no entry" in answer["error"]


def test_every_backward_gets_the_entry_of_its_own_forward(in_child: InChild) -> None:
    answer = in_child(plain_training)
    assert len(answer["given"]) == 15
    assert all(context == entry for _, context, entry in answer["given"])
    assert answer["left"] == 0


@pytest.mark.parametrize("nested", [False, True])
def test_under_recompute_the_backward_gets_the_entry_of_the_replay(
    in_child: InChild, version: str, nested: bool
) -> None:
    if version.startswith("2.7."):
        pytest.skip("this MindSpore has no non-reentrant recompute")
    answer = in_child(recomputed_training, nested)
    assert len(answer["given"]) == 15
    # The context is the first run's, the entry the replay's, which ran later.
    assert all(entry > context for _, context, entry in answer["given"])
    assert answer["left"] == 0


@pytest.mark.parametrize("recomputed", [False, True])
def test_micro_batches_in_flight_do_not_mix(in_child: InChild, version: str, recomputed: bool) -> None:
    if recomputed and version.startswith("2.7."):
        pytest.skip("this MindSpore has no non-reentrant recompute")
    answer = in_child(two_micro_batches_in_flight, recomputed)
    contexts = [context for _, context, _ in answer["given"]]
    assert contexts == [2, 1, 4, 3, *contexts[4:]]
    if not recomputed:
        assert [entry for *_, entry in answer["given"]] == contexts == [2, 1, 4, 3, 6, 5]
    assert answer["left"] == 0


def test_a_forward_without_a_backward_leaves_nothing(in_child: InChild, version: str) -> None:
    answer = in_child(evaluation, not version.startswith("2.7."))
    assert answer["forwards"] > 0
    assert answer["left"] == 0


def test_an_exception_half_way_leaves_nothing(in_child: InChild) -> None:
    assert in_child(exception_half_way)["left"] == 0


def test_hooks_that_copy_what_is_saved_need_the_context(in_child: InChild) -> None:
    with_context = in_child(hooks_that_copy, True)
    assert [entry for *_, entry in with_context["given"]] == [2, 1]
    assert with_context["left"] == 0
    assert _lost_entry_is_loud(in_child(hooks_that_copy, False))
