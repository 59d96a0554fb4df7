from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ms_compat
from tests.standin import write_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator

HOMES: dict[str, str] = vars(ms_compat)["_HOMES"]
STUB = ast.parse((Path(ms_compat.__file__).with_suffix(".pyi")).read_text(encoding="utf-8"))


@pytest.fixture
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is loaded on first use has not been used."""
    for name in (*ms_compat.__all__, "__version__"):
        monkeypatch.delitem(vars(ms_compat), name, raising=False)
    yield
    vars(ms_compat).pop("__version__", None)


@pytest.mark.parametrize("name", sorted({*ms_compat.__all__} - {"Function"}))
@pytest.mark.usefixtures("_fresh")
def test_every_name_is_the_one_that_its_module_makes_public(name: str) -> None:
    home = importlib.import_module(f"ms_compat.{HOMES[name]}")
    assert name in home.__all__
    assert getattr(ms_compat, name) is getattr(home, name)


@pytest.mark.usefixtures("_fresh")
def test_a_base_class_that_needs_mindspore_says_so_where_there_is_none() -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named 'mindspore'"):
        ms_compat.Function  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'Functions'"):
        importlib.import_module(f"ms_compat.{HOMES['Function']}").Functions  # noqa: B018


@pytest.mark.usefixtures("_fresh")
def test_a_name_that_was_used_is_found_without_a_detour() -> None:
    assert vars(ms_compat).get("Answer") is None
    assert ms_compat.Answer is vars(ms_compat)["Answer"]


@pytest.mark.usefixtures("_fresh")
def test_recompute_becomes_mindspores_own_as_soon_as_that_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    home = importlib.import_module("ms_compat.shims.recompute")
    own = object()
    monkeypatch.setattr(home, "native_recompute", lambda: None)
    assert ms_compat.recompute is home.recompute
    monkeypatch.setattr(home, "native_recompute", lambda: own)
    assert ms_compat.recompute is own


def test_what_type_checkers_are_told_is_what_there_is() -> None:
    told = {
        alias.asname: (node.module, alias.name)
        for node in STUB.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == {name: (f"ms_compat.{home}", name) for name, home in HOMES.items()}


def test_the_list_of_names_for_type_checkers_is_the_real_one() -> None:
    (stated,) = (
        ast.literal_eval(node.value)
        for node in STUB.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"
    )
    assert stated == ms_compat.__all__


@pytest.mark.usefixtures("_fresh")
def test_names_that_were_not_used_yet_are_listed() -> None:
    assert set(ms_compat.__all__) <= set(dir(ms_compat))


def test_another_name_is_an_attribute_error_of_the_usual_form() -> None:
    with pytest.raises(AttributeError, match="module 'ms_compat' has no attribute 'nonsense'"):
        _ = ms_compat.nonsense  # type: ignore[attr-defined]


@pytest.mark.usefixtures("_fresh")
def test_the_version_is_that_of_the_installed_distribution(site: Path) -> None:
    write_metadata(site, "ms_compat", "9.8.7")
    assert ms_compat.__version__ == "9.8.7"
