"""Saved tensors, hooks, grad recording and replay detection on the real MindSpore, with and without the shim."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from ms_compat import Features

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.real.conftest import InChild


def retained_graphs(with_shim: bool, hooks: bool) -> dict[str, Any]:
    """Graphs that are retained and dropped: what stays of each, and whether hooks and gradients are undisturbed."""
    import contextlib

    import mindspore
    from mindspore import mint

    import ms_compat
    from ms_compat.probing.growth import measure
    from ms_compat.probing.workloads import backward, leaf, recording

    seen: list[float] = []

    def pack(saved: Any) -> Any:
        seen.append(float(saved.asnumpy()[0]))
        return saved

    def unpack(packed: Any) -> Any:
        return packed

    def around() -> Any:
        if hooks:
            return (ms_compat if with_shim else mindspore).saved_tensors_hooks(pack, unpack)
        return ms_compat.detach_saved_tensors() if with_shim else contextlib.nullcontext()

    def run(context: Any) -> Any:
        x = leaf(0.5)
        with context:
            # Its output is saved; the copy of it outlives the step exactly when the graph does.
            y = mint.exp(x * 1.0)
            z = y * y
        backward(z, retain_graph=True)
        return x

    with recording():
        right = run(contextlib.nullcontext())._grad.asnumpy().tobytes()
        growth = measure(lambda: run(around()), control=lambda: run(contextlib.nullcontext()), steps=6)
        # Another measure of what stays: host memory does not tell, so an unfinished graph is looked at as well.
        return {
            "growth": growth.tensors_per_step,
            "same": run(around())._grad.asnumpy().tobytes() == right,
            "seen": sorted({round(value, 3) for value in seen}),
        }


def hooks_dropped(with_shim: bool, release: Any) -> dict[str, Any]:
    """Hooks registered and forgotten: bytes that stay for each, how often they fired, what they do to the gradient."""
    from mindspore import mint

    import ms_compat
    from ms_compat.probing.growth import measure
    from ms_compat.probing.workloads import backward, leaf, recording

    hooks = 100
    fired: list[None] = []

    def register(tensor: Any) -> Any:
        def hook(gradient: Any) -> Any:
            fired.append(None)
            return gradient * 1.0

        return ms_compat.register_hook(tensor, hook, release=release) if with_shim else tensor.register_hook(hook)

    def step(*, removed: bool) -> None:
        fired.clear()
        x = leaf(0.5)
        if removed:
            handles = [x.register_hook(lambda gradient: gradient * 1.0) for _ in range(hooks)]
        else:
            handles = [register(x) for _ in range(hooks)]
        backward(mint.exp(x))
        for handle in handles if removed else ():
            handle.remove()

    with recording():
        growth = measure(lambda: step(removed=False), control=lambda: step(removed=True), steps=6)
        step(removed=False)
        x = leaf(0.5)
        kept = ms_compat.register_hook(x, lambda gradient: gradient * 3.0) if with_shim else None
        backward(mint.exp(x))
        scaled = float(x._grad.asnumpy()[0])
    assert growth.bytes is not None
    del kept
    return {"bytes_per_hook": min(growth.bytes) / hooks, "fired": len(fired), "scaled": scaled}


def remove_inside_a_hook() -> dict[str, Any]:
    from mindspore import mint

    import ms_compat
    from ms_compat.probing.workloads import backward, leaf, recording

    calls: list[None] = []
    handles: list[Any] = []

    def hook(gradient: Any) -> Any:
        calls.append(None)
        handles[0].remove()
        return gradient

    with recording():
        x = leaf(0.5)
        handles.append(ms_compat.register_hook(x, hook, release="with_handle"))
        y = mint.exp(x)
        backward(y, retain_graph=True)
        backward(y)
    return {"calls": len(calls)}


def forward_in_a_thread(with_shim: bool) -> dict[str, Any]:
    """A forward in a worker, its backward in this thread; and whether one block's end switches another one off."""
    from mindspore import mint

    import ms_compat
    from ms_compat.moved import pynative_executor
    from ms_compat.probing.workloads import backward, leaf, recording

    x = leaf(0.5)
    outputs: list[Any] = []

    def work() -> None:
        if with_shim:
            with ms_compat.grad_recording():
                outputs.append(mint.exp(x))
        else:
            outputs.append(mint.exp(x))

    with recording():
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
        try:
            backward(outputs[0])
            gradient = float(x._grad.asnumpy()[0])
        except RuntimeError as error:
            return {"error": str(error)}
    left, entered = threading.Event(), threading.Event()

    def other() -> None:
        with ms_compat.grad_recording():
            entered.set()
            left.wait(20)

    before = pynative_executor().grad_flag()
    with ms_compat.grad_recording():
        worker = threading.Thread(target=other)
        worker.start()
        entered.wait(20)
        left.set()
        worker.join()
        still_on = pynative_executor().grad_flag()
    return {"gradient": gradient, "still_on": still_on, "restored": pynative_executor().grad_flag() == before}


def where_code_runs(native: bool) -> dict[str, Any]:
    import mindspore
    from mindspore import mint

    import ms_compat
    from ms_compat.probing.workloads import leaf

    seen: list[tuple[bool, bool]] = []

    def block(x: Any) -> Any:
        seen.append((ms_compat.is_recomputing(), ms_compat.autodiff_engine_id() >= 0))
        return mint.exp(x)

    run: Callable[..., Any] = mindspore.recompute if native else ms_compat.recompute
    mindspore.grad(lambda x: run(block, x, use_reentrant=False))(leaf(1.0))
    seen.append((ms_compat.is_recomputing(), ms_compat.autodiff_engine_id() >= 0))
    return {"seen": seen}


def executor_is_found() -> dict[str, Any]:
    import ms_compat

    executor = ms_compat.pynative_executor()
    before = executor.grad_flag()
    executor.set_grad_flag(True)
    on = executor.grad_flag()
    executor.set_grad_flag(before)
    return {"on": on, "name": type(executor).__name__}


@pytest.mark.parametrize("hooks", [True, False])
def test_nothing_of_a_retained_graph_stays_and_hooks_see_what_they_saw(in_child: InChild, hooks: bool) -> None:
    answer = in_child(retained_graphs, True, hooks)
    assert answer["growth"] <= 0
    assert answer["same"]
    if hooks:
        assert answer["seen"] == in_child(retained_graphs, False, True)["seen"] != []


def test_without_the_shim_identity_hooks_keep_retained_graphs(in_child: InChild) -> None:
    assert not Features().saved_tensors_hooks_detach_output
    assert in_child(retained_graphs, False, True)["growth"] >= 1


@pytest.mark.parametrize("release", ["after_backward", "with_handle"])
def test_a_hook_is_released_without_a_call_of_remove(in_child: InChild, release: str) -> None:
    answer = in_child(hooks_dropped, True, release)
    assert answer["bytes_per_hook"] < 15
    assert answer["fired"] == 100
    assert answer["scaled"] == pytest.approx(3 * 1.6487, rel=1e-3)


def test_without_the_shim_every_forgotten_hook_stays(in_child: InChild) -> None:
    assert not Features().hook_handle_drop_releases
    assert in_child(hooks_dropped, False, "after_backward")["bytes_per_hook"] > 30


def test_a_hook_may_remove_itself(in_child: InChild) -> None:
    assert in_child(remove_inside_a_hook)["calls"] == 1


def test_recording_holds_in_a_worker_thread_and_outlives_the_blocks_of_others(in_child: InChild) -> None:
    answer = in_child(forward_in_a_thread, True)
    assert answer == {"gradient": pytest.approx(1.6487, rel=1e-3), "still_on": True, "restored": True}


def test_without_the_shim_a_worker_records_only_where_the_verdict_is_yes(in_child: InChild) -> None:
    answer = in_child(forward_in_a_thread, False)
    if Features().grad_flag_crosses_threads:
        assert answer["gradient"] == pytest.approx(1.6487, rel=1e-3)
    else:
        assert "requires grad" in answer["error"]


@pytest.mark.parametrize("native", [True, False])
def test_a_replay_is_told_from_a_forward(in_child: InChild, version: str, native: bool) -> None:
    if version.startswith("2.7."):
        pytest.skip("this MindSpore has no non-reentrant recompute")
    assert in_child(where_code_runs, native)["seen"] == [[False, False], [True, True], [False, False]]


def test_the_executor_is_found_wherever_it_lives(in_child: InChild) -> None:
    assert in_child(executor_is_found)["on"] is True
