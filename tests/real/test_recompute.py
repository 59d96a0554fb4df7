"""recompute on the real MindSpore: with the shim nothing stays and nothing is wrong; without it the problem shows."""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING, Any

import pytest

from ms_compat import Features

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.real.conftest import InChild

pytestmark = pytest.mark.usefixtures("non_reentrant")

SIZE, LAYERS = 16, 3


@pytest.fixture
def non_reentrant(request: pytest.FixtureRequest, version: str) -> None:
    if version.startswith("2.7.") and "2_7" not in request.node.name:
        pytest.skip("this MindSpore has no non-reentrant recompute")


# What runs in the child


def _chosen(with_shim: bool) -> Callable[..., Any]:
    import mindspore

    import ms_compat

    chosen: Callable[..., Any] = ms_compat.recompute if with_shim else mindspore.recompute
    return chosen


def _forward(arrangement: str, run: Callable[..., Any], cells: Any) -> Callable[[Any], Any]:
    """A model in which every block goes through ``run``; its loss is a scalar."""

    def layers(x: Any, **options: Any) -> Any:
        for cell in cells:
            x = run(cell, x, use_reentrant=False, **options)
        return (x * x).mean()

    def nested(x: Any) -> Any:
        def outer(x: Any) -> Any:
            for cell in cells:
                x = run(cell, x, use_reentrant=False)
            return x * 0.5

        return (run(outer, x, use_reentrant=False) * 2.0).mean()

    if arrangement == "output_recompute":
        return lambda x: layers(x, output_recompute=True)
    return nested if arrangement == "nested" else layers


def _differentiate(way: str, forward: Callable[[Any], Any], cells: Any) -> Callable[[], list[bytes]]:
    """A step: forward and backward; returns loss and gradients to the bit."""
    import mindspore

    from ms_compat.comparison.workloads import _batch
    from ms_compat.probing.workloads import backward, recording

    weights = cells.trainable_params()

    def tape() -> list[Any]:
        with recording():
            x = _batch(0, SIZE)
            x.requires_grad_()
            for weight in weights:
                weight.requires_grad_()
                weight._grad = None
            loss = forward(x)
            backward(loss)
            return [loss, x._grad, *(weight._grad for weight in weights)]

    def value_and_grad() -> list[Any]:
        loss, (x, gradients) = mindspore.value_and_grad(forward, 0, weights)(_batch(0, SIZE))
        return [loss, x, *gradients]

    def grad() -> list[Any]:
        return [mindspore.grad(forward)(_batch(0, SIZE))]

    found = {"tape": tape, "value_and_grad": value_and_grad, "grad": grad}[way]
    return lambda: [gradient.asnumpy().tobytes() for gradient in found()]


def _plain(block: Callable[..., Any], *args: Any, **_: Any) -> Any:
    return block(*args)


def training(with_shim: bool, arrangement: str, way: str) -> dict[str, Any]:
    from ms_compat.comparison.workloads import residual_mlp
    from ms_compat.probing.growth import measure

    cells = residual_mlp(LAYERS, SIZE)
    right = _differentiate(way, _forward(arrangement, _plain, cells), cells)
    tested = _differentiate(way, _forward(arrangement, _chosen(with_shim), cells), cells)
    try:
        gradients = tested()
    except RuntimeError as error:
        return {"error": str(error)}
    growth = measure(tested, control=right, steps=5)
    return {"growth": growth.tensors_per_step, "same": gradients == right(), "gradients": len(gradients)}


def twelve_layers(with_shim: bool, steps: int) -> dict[str, Any]:
    from ms_compat.comparison.workloads import _recompute
    from ms_compat.probing.growth import live_tensors
    from ms_compat.probing.workloads import drain

    step = _recompute(with_shim, 12, 32)
    counts = []
    for number in range(steps):
        step(number)
        if number + 1 in (10, steps):
            drain()
            counts.append(live_tensors())
    return {"at_10": counts[0], "at_end": counts[1]}


@contextlib.contextmanager
def _error_text() -> Iterator[list[str]]:
    said: list[str] = []
    try:
        yield said
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")


def differing_replay(with_shim: bool, difference: str) -> dict[str, Any]:
    """A block whose second run is another one; returns the gradient it gave and what it raised."""
    import mindspore
    from mindspore import mint

    from ms_compat.probing.workloads import backward, leaf, recording

    runs: list[None] = []
    factor = leaf(2.0) if difference != "requires_grad" else mindspore.Tensor([2.0], mindspore.float32)

    def block(x: Any) -> Any:
        runs.append(None)
        again = len(runs) > 1
        if difference == "more" and again:
            x = mint.exp(x * 0.0) * x
        y = mint.exp(x) if not (difference == "fewer" and again) else x + 1.0
        if difference == "shape" and again:
            y = mint.exp(mint.cat((x, x)))[:1]
        return y * factor

    found: list[float] = []
    with recording(), _error_text() as said:
        x = leaf(1.0)
        loss = _chosen(with_shim)(block, x, use_reentrant=False).sum()
        if difference == "requires_grad":
            factor.requires_grad_()
        backward(loss)
        found = [float(x._grad.asnumpy()[0])]
    return {"gradient": found, "said": said}


def context_managers(with_shim: bool) -> dict[str, Any]:
    from mindspore import mint

    from ms_compat.probing.workloads import backward, leaf, recording

    order: list[str] = []

    @contextlib.contextmanager
    def context(name: str) -> Iterator[None]:
        order.append(f"enter {name}")
        try:
            yield
        finally:
            order.append(f"leave {name}")

    def block(x: Any) -> Any:
        order.append("block")
        return mint.exp(x)

    with recording():
        loss = _chosen(with_shim)(
            block, leaf(1.0), use_reentrant=False, context_fn=lambda: (context("forward"), context("replay"))
        )
        backward(loss, retain_graph=True)
        backward(loss)
    return {"order": order}


def dropout(with_shim: bool, way: str) -> dict[str, Any]:
    import mindspore
    from mindspore import nn, ops

    from ms_compat.probing.workloads import backward, leaf, recording

    layer = nn.Dropout(p=0.5)
    layer.set_train()
    run = _chosen(with_shim)
    size = 256

    def forward(x: Any) -> Any:
        return run(lambda x: layer(x) * x, x, use_reentrant=False)

    differing = []
    for _ in range(4):
        if way == "tape":
            with recording():
                x = leaf(*[3.0] * size)
                y = forward(x)
                backward(y.sum())
                slope = x._grad
        else:
            # The gradient of the sum; the value is the output itself.
            y, slope = mindspore.value_and_grad(forward)(ops.ones(size) * 3.0)
        differing.append(int(((y.asnumpy() != 0) != (slope.asnumpy() != 0)).sum()))
    masks_vary = (layer(ops.ones(size)).asnumpy() != layer(ops.ones(size)).asnumpy()).any()
    return {"differing": differing, "masks_vary": bool(masks_vary)}


def retained_graph_twice() -> dict[str, Any]:
    from mindspore import mint

    from ms_compat import checkpoint
    from ms_compat.probing.workloads import backward, leaf, recording

    with recording():
        x = leaf(1.0)
        loss = checkpoint(lambda x: mint.exp(x) * x, x)
        backward(loss, retain_graph=True)
        once = float(x._grad.asnumpy()[0])
        backward(loss)
        return {"once": once, "twice": float(x._grad.asnumpy()[0])}


def exceptions_leave_everything_as_it_was() -> dict[str, Any]:
    from mindspore import mint

    from ms_compat import checkpoint
    from ms_compat.moved import pynative_executor
    from ms_compat.probing.workloads import backward, leaf, recording

    engine = pynative_executor()
    runs: list[None] = []

    def state() -> tuple[Any, ...]:
        return engine.grad_flag(), engine.enable_grad(), engine.is_saved_tensor_hook_active()

    def block(x: Any, failing_run: int) -> Any:
        runs.append(None)
        y = mint.exp(x)
        if len(runs) == failing_run:
            raise ZeroDivisionError("half way")
        return y * x

    answers = []
    with recording():
        before = state()
        for failing_run in (1, 2):
            runs.clear()
            with _error_text() as said:
                backward(checkpoint(block, leaf(1.0), failing_run))
            answers.append([said[0].splitlines()[0], state() == before])
        runs.clear()
        x = leaf(1.0)
        backward(checkpoint(block, x, 0))
        return {"answers": answers, "gradient": float(x._grad.asnumpy()[0])}


def arguments_of_every_shape() -> dict[str, Any]:
    from mindspore import mint

    from ms_compat import checkpoint
    from ms_compat.probing.workloads import backward, leaf, recording

    def block(pair: tuple[Any, Any], *, table: dict[str, Any], scale: float) -> dict[str, Any]:
        return {"sum": mint.exp(pair[0]) * pair[1] * table["w"] * scale, "label": "kept"}

    with recording():
        a, b, w = leaf(1.0), leaf(2.0), leaf(3.0)
        answer = checkpoint(block, (a, b), table={"w": w}, scale=0.5)
        backward(answer["sum"])
        return {
            "label": answer["label"],
            "gradients": [round(float(one._grad.asnumpy()[0]), 4) for one in (a, b, w)],
        }


def process_wide_switch() -> dict[str, Any]:
    import mindspore
    from mindspore import recompute as bound_early

    from ms_compat import recompute_defaults
    from ms_compat.comparison.workloads import residual_mlp
    from ms_compat.probing.growth import measure

    native = importlib.import_module("mindspore.common.recompute")
    before = dict(vars(native))
    cells = residual_mlp(2, SIZE)

    def growth(run: Callable[..., Any]) -> float:
        step = _differentiate("grad", _forward("layers", run, cells), cells)
        return measure(step, steps=4).tensors_per_step

    answer: dict[str, Any] = {"without": growth(bound_early)}
    switch = recompute_defaults()
    with recompute_defaults():
        answer["changes"] = list(switch.changes)
        answer["early_bound"] = growth(bound_early)
        answer["late_bound"] = growth(mindspore.recompute)
    answer["one_left"] = growth(bound_early)
    switch.undo()
    switch.undo()
    answer["restored"] = all(vars(native)[name] is value for name, value in before.items())
    answer["without_again"] = growth(bound_early)
    return answer


def identity_where_all_is_well() -> dict[str, Any]:
    import mindspore

    import ms_compat
    from ms_compat.shims.recompute import repaired

    with ms_compat.features.override(**dict.fromkeys(repaired(), True)):
        same = ms_compat.recompute is mindspore.recompute
    return {"same": same, "other": ms_compat.recompute is not mindspore.recompute}


def what_2_7_says() -> dict[str, Any]:
    import ms_compat

    said = []
    for call in (ms_compat.recompute, ms_compat.checkpoint):
        with _error_text() as one:
            call(lambda x: x, 1)
        said += one
    return {"said": said}


# What is said of it


@pytest.mark.parametrize("way", ["grad", "value_and_grad", "tape"])
@pytest.mark.parametrize("arrangement", ["layers", "nested", "output_recompute"])
def test_with_the_shim_nothing_stays_and_gradients_are_those_without_recompute(
    in_child: InChild, arrangement: str, way: str
) -> None:
    answer = in_child(training, True, arrangement, way)
    assert answer["growth"] == 0, answer
    assert answer["same"], answer


@pytest.mark.parametrize("way", ["value_and_grad", "tape"])
def test_without_the_shim_what_the_verdict_says_happens(in_child: InChild, way: str) -> None:
    features = Features()
    answer = in_child(training, False, "layers", way)
    if way == "tape" and not features.recompute_under_run_backward:
        assert "Unpack is being triggered" in answer["error"]
    elif features.recompute_releases_tensors:
        assert answer["growth"] == 0
    else:
        assert answer["growth"] == LAYERS


def test_twelve_layers_hold_as_many_tensors_at_step_300_as_at_step_10(in_child: InChild) -> None:
    answer = in_child(twelve_layers, True, 300)
    assert answer["at_10"] == answer["at_end"]


def test_without_the_shim_twelve_layers_lose_twelve_tensors_a_step_where_the_verdict_is_no(in_child: InChild) -> None:
    answer = in_child(twelve_layers, False, 60)
    lost = 0 if Features().recompute_releases_tensors else 12 * 50
    assert answer["at_end"] - answer["at_10"] == lost


@pytest.mark.parametrize("difference", ["more", "fewer", "requires_grad", "shape"])
def test_a_replay_that_saved_something_else_is_an_error_that_says_what_to_look_for(
    in_child: InChild, difference: str
) -> None:
    answer = in_child(differing_replay, True, difference)
    assert answer["gradient"] == []
    (said,) = answer["said"]
    for told in ("differing_replay.<locals>.block", "tensors, its forward saved", "Usual causes", "early_stop=True"):
        assert told in said


def test_without_the_shim_such_a_replay_gives_a_wrong_gradient_where_the_verdict_is_no(in_child: InChild) -> None:
    features = Features()
    if not features.recompute_under_run_backward:
        pytest.skip("MindSpore's own recompute does not get as far as a gradient here")
    answer = in_child(differing_replay, False, "more")
    assert not features.recompute_replay_is_checked
    assert answer["said"] == []
    # d/dx 2 exp(x) at 1.
    assert answer["gradient"] != [pytest.approx(2 * 2.718281828, rel=1e-4)]


def test_the_first_context_is_round_the_forward_and_the_second_round_each_replay(in_child: InChild) -> None:
    replay = ["enter replay", "block", "leave replay"]
    order = in_child(context_managers, True)["order"]
    assert order == ["enter forward", "block", "leave forward", *replay, *replay]


@pytest.mark.parametrize("way", ["value_and_grad", "tape"])
def test_the_replay_drops_what_the_forward_dropped(in_child: InChild, way: str) -> None:
    answer = in_child(dropout, True, way)
    assert answer["differing"] == [0, 0, 0, 0]
    assert answer["masks_vary"]


def test_without_the_shim_the_replay_drops_something_else(in_child: InChild) -> None:
    assert not Features().recompute_repeats_dropout
    assert min(in_child(dropout, False, "value_and_grad")["differing"]) > 50


def test_a_retained_graph_can_be_differentiated_again(in_child: InChild) -> None:
    answer = in_child(retained_graph_twice)
    assert answer["once"] == pytest.approx(2 * 2.718281828, rel=1e-4)
    assert answer["twice"] == pytest.approx(2 * answer["once"])


def test_an_exception_in_the_forward_or_the_replay_leaves_everything_as_it_was(in_child: InChild) -> None:
    answer = in_child(exceptions_leave_everything_as_it_was)
    assert answer["answers"] == [["ZeroDivisionError: half way", True]] * 2
    assert answer["gradient"] == pytest.approx(2 * 2.718281828, rel=1e-4)


def test_tensors_in_tuples_dicts_and_keywords_are_differentiated(in_child: InChild) -> None:
    answer = in_child(arguments_of_every_shape)
    assert answer["label"] == "kept"
    e = 2.718281828
    assert answer["gradients"] == pytest.approx([e * 2 * 3 / 2, e * 3 / 2, e * 2 / 2], rel=1e-3)


def test_the_process_wide_switch_reaches_names_that_were_bound_earlier_and_can_be_undone(in_child: InChild) -> None:
    answer = in_child(process_wide_switch)
    leak = 0 if Features().recompute_releases_tensors else 2
    assert answer["without"] == answer["without_again"] == leak
    assert answer["early_bound"] == answer["late_bound"] == answer["one_left"] == 0
    assert "mindspore.common.recompute.recompute_without_reentrant" in answer["changes"]
    assert answer["restored"]


def test_where_every_verdict_is_yes_it_is_the_native_call(in_child: InChild) -> None:
    assert in_child(identity_where_all_is_well) == {"same": True, "other": True}


def test_2_7_is_told_what_is_missing_and_since_when_it_exists(in_child: InChild, version: str) -> None:
    if not version.startswith("2.7."):
        pytest.skip("about MindSpore 2.7")
    for said in in_child(what_2_7_says)["said"]:
        assert said.startswith("FeatureError: recompute_non_reentrant is no on MindSpore 2.7")
        assert "mindspore.recompute(use_reentrant=)" in said
        assert ">= 2.8" in said
