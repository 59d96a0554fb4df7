"""value_and_grad, grad and Function on the real MindSpore, with and without the shim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ms_compat import Features

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.real.conftest import InChild


def _differentiate(with_shim: bool, name: str = "value_and_grad") -> Callable[..., Any]:
    import mindspore

    import ms_compat

    found: Callable[..., Any] = getattr(ms_compat if with_shim else mindspore, name)
    return found


def a_tape_after_a_gradient(with_shim: bool, name: str) -> dict[str, Any]:
    """What the torch-style tape finds for graphs recorded before and after a gradient of the other kind."""
    from ms_compat.probing.workloads import backward, curve, leaf, recording, tensor

    def gradient(x: Any, output: Any) -> Any:
        try:
            backward(output)
        except RuntimeError as error:
            return str(error)[:60]
        return float(x._grad.asnumpy()[0])

    with recording():
        before = leaf(0.5)
        output = curve(before)
        _differentiate(with_shim, name)(curve)(tensor(0.5))
        after = leaf(0.5)
        return {"after": gradient(after, curve(after)), "before": gradient(before, output)}


def graphs_after_an_exception(with_shim: bool) -> dict[str, Any]:
    """Tensors that stay for each step under saved-tensor hooks, once a forward has raised; and second gradients."""
    import mindspore
    from mindspore import ops

    from ms_compat.moved import pynative_executor
    from ms_compat.probing.growth import measure
    from ms_compat.probing.workloads import curve, identity, tensor

    differentiate = _differentiate(with_shim)

    def fails(x: Any) -> Any:
        ops.exp(x)
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        differentiate(fails)(tensor(0.5))
    still_on = pynative_executor().grad_flag()

    def step() -> None:
        with mindspore.saved_tensors_hooks(identity, identity):
            differentiate(curve)(tensor(0.5))

    growth = measure(step, steps=10).tensors_per_step
    second = differentiate(lambda x: differentiate(lambda y: ops.mul(ops.mul(y, y), y))(x)[1])(tensor(2.0))[1]
    return {"growth": growth, "still_on": still_on, "second": float(second.asnumpy()[0])}


def custom_gradients(with_shim: bool, setup_context: bool) -> dict[str, Any]:
    """How many tuples stay for each call of ``apply``, nested and after exceptions, and the gradient."""
    from mindspore import ops
    from mindspore.common._grad_function import _Function

    import ms_compat
    from ms_compat.probing.workloads import backward, leaf, recording

    base: Any = ms_compat.Function if with_shim else _Function
    needed: set[tuple[bool, ...]] = set()
    places: list[int] = []

    def note(needs_input_grad: tuple[bool, ...]) -> None:
        needed.add(needs_input_grad)
        places.append(id(needs_input_grad))

    class Square(base):  # type: ignore[misc]
        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return ops.mul(gradient, ops.mul(ctx.saved_tensors[0], 2.0)), None

    if setup_context:

        class SquareAndNote(Square):
            @staticmethod
            def forward(x: Any, _: Any) -> Any:
                return ops.mul(x, x)

            @staticmethod
            def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
                note(ctx.needs_input_grad)
                ctx.save_for_backward(inputs[0])
    else:

        class SquareAndNote(Square):  # type: ignore[no-redef]
            @staticmethod
            def forward(ctx: Any, x: Any, depth: Any) -> Any:
                note(ctx.needs_input_grad)
                ctx.save_for_backward(x)
                if depth:
                    SquareAndNote.apply(x, depth - 1)
                return ops.mul(x, x)

    class Failing(SquareAndNote):
        @staticmethod
        def forward(*_: Any) -> Any:
            raise ArithmeticError

    def step() -> float:
        x = leaf(0.5)
        backward(SquareAndNote.apply(x, 1))
        return float(x._grad.asnumpy()[0])

    with recording():
        for _ in range(5):
            with pytest.raises(ArithmeticError):
                Failing.apply(leaf(0.5), 0)
        places.clear()
        gradients = {step() for _ in range(60)}
    # A tuple that stays keeps its place in memory to itself; the place of one that goes is taken by a later one.
    return {"stays": len(set(places)) / len(places), "gradients": sorted(gradients), "needed": sorted(needed)}


@pytest.mark.parametrize("name", ["value_and_grad", "grad"])
class TestATapeAfterAGradient:
    def test_records_with_the_shim(self, in_child: InChild, name: str) -> None:
        assert in_child(a_tape_after_a_gradient, True, name) == {
            "after": pytest.approx(1.2840, abs=1e-4),
            "before": pytest.approx(1.2840, abs=1e-4),
        }

    def test_records_nothing_without_it(self, in_child: InChild, name: str) -> None:
        if Features().value_and_grad_keeps_recording:
            pytest.skip("MindSpore's own keeps recording here")
        assert "doesn't requires grad" in in_child(a_tape_after_a_gradient, False, name)["after"]


class TestGraphsAfterAnException:
    def test_are_released_with_the_shim(self, in_child: InChild) -> None:
        found = in_child(graphs_after_an_exception, True)
        assert found == {"growth": 0, "still_on": False, "second": 12.0}

    def test_stay_without_it(self, in_child: InChild) -> None:
        if Features().value_and_grad_survives_exception:
            pytest.skip("MindSpore's own lets go of them here")
        found = in_child(graphs_after_an_exception, False)
        assert found["growth"] == pytest.approx(3.0, abs=0.2)
        assert found["still_on"]


class TestFunction:
    @pytest.mark.parametrize("setup_context", [False, True])
    def test_leaves_nothing_behind(self, in_child: InChild, version: str, setup_context: bool) -> None:
        if setup_context and version != "2.10.0":
            pytest.skip("setup_context is not called before 2.10")
        found = in_child(custom_gradients, True, setup_context)
        assert found["stays"] < 0.3
        assert found["gradients"] == [1.0]
        assert found["needed"] == [[True, False]]

    def test_leaves_a_tuple_for_each_call_without_the_shim(self, in_child: InChild) -> None:
        if Features().function_ctx_releases:
            pytest.skip("MindSpore's own releases it here")
        assert in_child(custom_gradients, False, False)["stays"] > 0.9
