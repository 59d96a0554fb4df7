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
    import mindspore

    import ms_compat

    ms_compat.recompute_defaults()
    mindspore.recompute = ms_compat.recompute


def _value_and_grad() -> None:
    import mindspore

    import ms_compat

    for name in ("value_and_grad", "grad"):
        native = getattr(mindspore, name)

        def differentiate(fn: Any, *args: Any, name: str = name, native: Any = native, **kwargs: Any) -> Any:
            # The shim calls MindSpore's own by its name.
            replaced = getattr(mindspore, name)
            setattr(mindspore, name, native)
            try:
                return getattr(ms_compat, name)(fn, *args, **kwargs)
            finally:
                setattr(mindspore, name, replaced)

        setattr(mindspore, name, differentiate)


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
#: The first runs in an interpreter of its own, where nothing is replaced; what the second speaks of is accepted by the
#: shim and has no effect there. Both have tests of their own.
ELSEWHERE = {"hook_removal_inside_hook_is_safe", "recompute_early_stop_control"}
REPAIRED = [
    name for name in COLLECTION.names() if COLLECTION.load(name).remedy.shim in IN_PLACE_OF and name not in ELSEWHERE
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
    answer, summary = in_child(probed_with_the_shim, name)
    assert answer == "yes", summary
