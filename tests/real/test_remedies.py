"""With the shim in MindSpore's place the probe that said no says yes: for every feature a drop-in repairs."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

import pytest

from ms_compat import Features, Path
from ms_compat.collect import Collection

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.real.conftest import InChild


def _recompute() -> None:
    import ms_compat

    ms_compat.recompute_defaults()


def _value_and_grad() -> None:
    import mindspore

    import ms_compat

    mindspore.value_and_grad, mindspore.grad = ms_compat.value_and_grad, ms_compat.grad


def _saved_tensors_hooks() -> None:
    import mindspore

    import ms_compat

    mindspore.saved_tensors_hooks = ms_compat.saved_tensors_hooks


def _register_hook() -> None:
    import mindspore

    import ms_compat

    native = mindspore.Tensor.register_hook

    def register_hook(self: Any, hook: Callable[[Any], Any]) -> Any:
        return ms_compat.register_hook(types.SimpleNamespace(register_hook=lambda own: native(self, own)), hook)

    mindspore.Tensor.register_hook = register_hook


IN_PLACE_OF: dict[str, Callable[[], None]] = {
    "ms_compat.recompute": _recompute,
    "ms_compat.register_hook": _register_hook,
    "ms_compat.saved_tensors_hooks": _saved_tensors_hooks,
    "ms_compat.value_and_grad": _value_and_grad,
}
COLLECTION = Collection()
#: Run in an interpreter of its own, where MindSpore has nothing replaced; its shim has tests elsewhere.
ALONE = {"hook_removal_inside_hook_is_safe"}
REPAIRED = [
    name for name in COLLECTION.names() if COLLECTION.load(name).remedy.shim in IN_PLACE_OF and name not in ALONE
]


def probed_with_the_shim(name: str) -> list[str]:
    from ms_compat.probing.runner import run_probe

    feature = COLLECTION.load(name)
    IN_PLACE_OF[str(feature.remedy.shim)]()
    measurement = run_probe(feature)
    return [measurement.answer.value, measurement.summary]


@pytest.mark.parametrize("name", REPAIRED)
def test_the_shim_repairs_it(in_child: InChild, name: str) -> None:
    verdict = Features()[name]
    if verdict.plan().path is not Path.WORKAROUND:
        pytest.skip(f"{verdict.why} The plan is {verdict.plan().path.value}.")
    assert in_child(probed_with_the_shim, name)[0] == "yes"
