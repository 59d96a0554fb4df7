from __future__ import annotations

import pytest

from ms_compat.collect import Collection
from ms_compat.errors import UnknownFeatureError
from ms_compat.overrides import Overrides

pytestmark = pytest.mark.usefixtures("house")


def test_an_answer_is_known_with_who_set_it() -> None:
    overrides = Overrides(Collection(), {"frees_memory": True})
    assert overrides.get("frees_memory") is True
    assert overrides.origin("frees_memory") == "MS_COMPAT_OVERRIDE"
    assert overrides.get("calls_return") is None


def test_a_misspelt_name_fails_at_once_and_offers_the_right_one() -> None:
    with pytest.raises(UnknownFeatureError, match="did you mean frees_memory"):
        Overrides(Collection(), {"free_memory": True})


def test_a_block_adds_to_the_environment_and_wins_over_it_until_it_ends() -> None:
    overrides = Overrides(Collection(), {"frees_memory": True, "calls_return": True})
    with overrides.temporarily({"frees_memory": False, "keeps_its_names": False}):
        assert overrides.all() == {"frees_memory": False, "calls_return": True, "keeps_its_names": False}
        assert overrides.origin("frees_memory") == "features.override"
        assert overrides.origin("calls_return") == "MS_COMPAT_OVERRIDE"
    assert overrides.all() == {"frees_memory": True, "calls_return": True}
    assert overrides.origin("frees_memory") == "MS_COMPAT_OVERRIDE"


def test_a_block_that_raises_ends_its_answers_too() -> None:
    overrides = Overrides(Collection(), {})
    with pytest.raises(ZeroDivisionError), overrides.temporarily({"frees_memory": False}):
        1 / 0  # noqa: B018
    assert overrides.all() == {}


def test_a_block_with_a_misspelt_name_sets_nothing() -> None:
    overrides = Overrides(Collection(), {})
    with pytest.raises(UnknownFeatureError), overrides.temporarily({"frees_memory": False, "nonsense": True}):
        pass
    assert overrides.all() == {}


def test_what_is_handed_out_cannot_change_what_is_set() -> None:
    overrides = Overrides(Collection(), {"frees_memory": True})
    handed_out = overrides.all()
    assert isinstance(handed_out, dict)
    handed_out.clear()
    assert overrides.get("frees_memory") is True
