"""ForwardStash on torch: however the forward runs, the backward gets the entry of its own forward."""

from __future__ import annotations

import contextlib
import gc
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from ms_compat import ForwardStash


class Model:
    """A chain of custom functions; each forward stashes its number, each backward notes which number it was given."""

    def __init__(self, layers: int, *, with_ctx: bool = False) -> None:
        stash: ForwardStash[int] = ForwardStash("torch")
        self.stash, self.layers = stash, layers
        self.forwards = 0
        self.failing = -1
        self.given: list[tuple[int, int]] = []  # forward that the context belongs to, forward of the entry
        model = self

        class Scale(torch.autograd.Function):  # type: ignore[misc]
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                model.forwards += 1
                ctx.number = model.forwards
                ctx.save_for_backward(x, stash.push(model.forwards, ctx if with_ctx else None))
                if model.forwards == model.failing:
                    raise ZeroDivisionError("half way")
                return x * 2.0

            @staticmethod
            def backward(ctx: Any, gradient: Any) -> Any:
                _, key = ctx.saved_tensors
                model.given.append((ctx.number, stash.pop(key)))
                return gradient * 2.0

        self.layer = lambda x: torch.exp(Scale.apply(torch.exp(x * 0.1)) * 0.1)

    def __call__(self, x: Any, *, depth: int = 0) -> Any:
        def run(inner: Any, x: Any, depth: int) -> Any:
            return checkpoint(lambda x: run(inner, x, depth - 1), x, use_reentrant=False) if depth else inner(x)

        for _ in range(self.layers):
            x = run(self.layer, x, depth)
        return x.sum()


def an_input() -> Any:
    return torch.tensor([0.1, 0.2], requires_grad=True)


def test_every_backward_gets_the_entry_of_its_own_forward() -> None:
    model = Model(3)
    for _ in range(5):
        model(an_input()).backward()
    assert len(model.given) == 15
    assert all(context == entry for context, entry in model.given)
    assert len(model.stash) == 0


@pytest.mark.parametrize("depth", [1, 2])
def test_under_checkpointing_the_backward_gets_the_entry_of_the_replay(depth: int) -> None:
    model = Model(3)
    for _ in range(5):
        model(an_input(), depth=depth).backward()
    assert len(model.given) == 15
    assert all(entry > context for context, entry in model.given)
    gc.collect()
    assert len(model.stash) == 0


@pytest.mark.parametrize("depth", [0, 1])
def test_micro_batches_in_flight_do_not_mix(depth: int) -> None:
    model = Model(2)
    first, second = model(an_input(), depth=depth), model(an_input(), depth=depth)
    first.backward()
    second.backward()
    assert [context for context, _ in model.given] == [2, 1, 4, 3]
    if not depth:
        assert all(context == entry for context, entry in model.given)
    del first, second
    gc.collect()
    assert len(model.stash) == 0


def test_a_forward_without_a_backward_leaves_nothing() -> None:
    model = Model(3)
    for depth in (0, 1):
        model(an_input(), depth=depth)
        with torch.no_grad():
            model(an_input(), depth=depth)
    gc.collect()
    assert len(model.stash) == 0


def test_an_exception_half_way_leaves_nothing() -> None:
    model = Model(3)
    for depth, failing in ((0, 2), (1, 7)):
        model.failing = failing
        with contextlib.suppress(ZeroDivisionError):
            model(an_input(), depth=depth).backward()
    model.failing = -1
    model(an_input()).backward()
    gc.collect()
    assert len(model.stash) == 0


def test_offloading_hooks_need_the_context() -> None:
    for with_ctx in (True, False):
        model = Model(2, with_ctx=with_ctx)
        with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved.numpy(force=True).copy(), torch.from_numpy):
            loss = model(an_input())
        if with_ctx:
            loss.backward()
            assert [entry for _, entry in model.given] == [2, 1]
        else:
            with pytest.raises(KeyError, match="no entry"):
                loss.backward()
        del loss
        gc.collect()
        assert len(model.stash) == 0


def test_a_retained_graph_needs_peek() -> None:
    stash: ForwardStash[str] = ForwardStash("torch")
    key = stash.push("entry")
    assert stash.peek(key) == stash.peek(key) == stash.pop(key) == "entry"
    with pytest.raises(KeyError, match="popped already"):
        stash.pop(key)


def test_the_framework_is_the_one_that_is_imported() -> None:
    stash: ForwardStash[str] = ForwardStash()
    assert stash.push("entry").dtype == torch.int64
    with pytest.raises(ValueError, match="found 'jax'"):
        ForwardStash("jax")
