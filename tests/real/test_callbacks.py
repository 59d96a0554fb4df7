"""Final callbacks of a backward on the real MindSpore, with and without the shim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ms_compat import FeatureError, Features, queue_backward_final_callback
from ms_compat.probing.alone import run_alone

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.real.conftest import InChild

#: Backwards that raise after a callback was queued that nobody else holds, each followed by one that ends well.
FAILING = """
from mindspore import ops
import ms_compat
from ms_compat.probing.workloads import backward, leaf, recording
from ms_compat.moved import pynative_executor

queue = ms_compat.queue_backward_final_callback if {with_shim} else pynative_executor().queue_backward_final_callback
ended = []

def fail(gradient):
    raise ArithmeticError

with recording():
    for _ in range(30):
        x = leaf(0.5)
        y = ops.mul(x, leaf(2.0))
        handles = [y.register_hook(lambda gradient: queue(lambda: ended.append("failed"))), x.register_hook(fail)]
        try:
            backward(ops.exp(y))
        except ArithmeticError:
            for handle in handles:
                handle.remove()
        z = ops.exp(leaf(0.5))
        handle = z.register_hook(lambda gradient: queue(lambda: ended.append("well")))
        backward(z)
        handle.remove()
print(ended.count("well"), flush=True)
"""


def callbacks_that_queue_callbacks(with_shim: bool, differentiate: str) -> list[str]:
    import mindspore

    import ms_compat
    from ms_compat.moved import pynative_executor
    from ms_compat.probing.workloads import backward, curve, leaf, recording

    own: Callable[[Any], None] = pynative_executor().queue_backward_final_callback
    queue = ms_compat.queue_backward_final_callback if with_shim else own
    called: list[str] = []

    def second() -> None:
        called.append("second")

    def first() -> None:
        called.append("first")
        queue(second)

    def last() -> None:
        called.append("last")

    def forward(x: Any) -> Any:
        y = curve(x)

        def hook(gradient: Any) -> Any:
            queue(first)
            queue(last)
            return gradient

        y.register_hook(hook)
        return y

    if differentiate == "run_backward":
        with recording():
            backward(forward(leaf(0.5)))
    else:
        getattr(mindspore, differentiate)(forward)(leaf(0.5))
    return called


@pytest.fixture
def _fires() -> None:
    if not Features().backward_final_callback_fires:
        pytest.skip("they never run under run_backward before 2.8")


@pytest.mark.usefixtures("_fires")
class TestCallbacks:
    @pytest.mark.parametrize("differentiate", ["run_backward", "value_and_grad"])
    def test_that_callbacks_queue_run_with_the_shim(self, in_child: InChild, differentiate: str) -> None:
        assert in_child(callbacks_that_queue_callbacks, True, differentiate) == ["first", "second", "last"]

    def test_of_backwards_that_fail_are_dropped_safely_with_the_shim(self) -> None:
        ending = run_alone(FAILING.format(with_shim=True), seconds=120)
        assert (ending.signal, ending.error, ending.output.split()[-1:]) == (0, "", ["30"])

    def test_of_backwards_that_fail_end_the_process_without_it(self) -> None:
        if Features().failed_backward_drops_callbacks_safely:
            pytest.skip("MindSpore's own drops them safely here")
        assert run_alone(FAILING.format(with_shim=False), seconds=120).signal != 0


def test_without_a_release_that_runs_them_is_an_error() -> None:
    if Features().backward_final_callback_fires:
        pytest.skip("this release runs them")
    with pytest.raises(FeatureError, match=r"Use MindSpore >= 2\.8"):
        queue_backward_final_callback(lambda: None)
