from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

import pytest

from ms_compat import moved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    moved.graph_api.cache_clear()
    yield
    moved.graph_api.cache_clear()


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., types.ModuleType]:
    """Puts a module of MindSpore where ``import`` finds it."""
    for name in ("mindspore", "mindspore.graph", "mindspore.common"):
        package = types.ModuleType(name)
        package.__path__ = []
        monkeypatch.setitem(sys.modules, name, package)

    def put(name: str, **names: Any) -> types.ModuleType:
        module = types.ModuleType(name)
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return put


def test_the_newer_place_comes_first(install: Callable[..., types.ModuleType]) -> None:
    newer, _ = install("mindspore.graph.api"), install("mindspore.common.api")
    assert moved.graph_api() is newer


@pytest.mark.parametrize("missing", ["mindspore.graph", "mindspore.graph.api"])
def test_the_former_place_is_taken_where_there_is_no_other(
    install: Callable[..., types.ModuleType], monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    former = install("mindspore.common.api")
    monkeypatch.delitem(sys.modules, missing, raising=False)
    assert moved.graph_api() is former


def test_a_place_that_is_broken_is_not_taken_for_missing(
    install: Callable[..., types.ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def find_spec(self, name: str, *_: Any) -> None:
            if name == "mindspore.graph.api":
                raise ModuleNotFoundError("No module named 'protobuf'", name="protobuf")

    install("mindspore.common.api")
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(ModuleNotFoundError, match="protobuf"):
        moved.graph_api()


def test_private_names_are_found_in_that_place(install: Callable[..., types.ModuleType]) -> None:
    install("mindspore.graph.api", _pynative_executor="executor", _no_grad=dict, saved_tensors_hooks=list)
    assert moved.pynative_executor() == "executor"
    assert moved.no_grad() == {}
    assert moved.saved_tensors_hooks_class() is list


def test_hooks_that_this_release_does_not_have_are_none(install: Callable[..., types.ModuleType]) -> None:
    install("mindspore.graph.api")
    assert moved.saved_tensors_hooks_class() is None


def test_a_compiled_name_is_found_or_an_attribute_error(install: Callable[..., types.ModuleType]) -> None:
    install("mindspore._c_expression", run_backward="run")
    assert moved.compiled("run_backward") == "run"
    with pytest.raises(AttributeError, match="nonsense"):
        moved.compiled("nonsense")
