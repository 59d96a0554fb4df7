from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from ms_compat.frozen import Frozen


class Point(Frozen):
    x: int
    y: int = 0

    def _check(self) -> None:
        if self.x < 0:
            raise ValueError("x must not be negative")


class Other(Frozen):
    x: int
    y: int = 0


class Named(Frozen, kw_only=True):
    x: int


def test_fields_are_given_by_place_or_by_name() -> None:
    assert Point(1, 2) == Point(1, y=2) == Point(y=2, x=1)
    assert Point(1) == Point(1, 0)


@pytest.mark.parametrize(
    ("kind", "arguments", "names", "complaint"),
    [
        (Point, (), {}, "takes x, y; missing are \\['x'\\]"),
        (Point, (), {"y": 1}, "missing are \\['x'\\]"),
        (Point, (1,), {"z": 1}, "unexpected or given twice \\['z'\\]"),
        (Point, (1,), {"x": 1}, "unexpected or given twice \\['x'\\]"),
        (Point, (1, 2, 3), {}, "3 were given without a name"),
        (Named, (1,), {}, "missing are \\['x'\\]"),
        (Named, (1,), {"x": 1}, "1 were given without a name"),
    ],
)
def test_wrong_arguments_are_an_error_that_names_them(
    kind: type[Any], arguments: tuple[int, ...], names: dict[str, int], complaint: str
) -> None:
    with pytest.raises(TypeError, match=complaint):
        kind(*arguments, **names)


def test_what_the_class_checks_is_checked_at_once_and_again_for_a_changed_copy() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        Point(-1)
    with pytest.raises(ValueError, match="must not be negative"):
        Point(1)._replace(x=-1)


def test_a_changed_copy_leaves_the_original_alone() -> None:
    point = Point(1, 2)
    assert point._replace(y=3) == Point(1, 3)
    assert point == Point(1, 2)


def test_nothing_can_be_set_or_deleted() -> None:
    point: Any = Point(1)
    with pytest.raises(AttributeError, match="Point cannot be changed, so x cannot be set to 2"):
        point.x = 2
    with pytest.raises(AttributeError, match="Point cannot be changed, so x cannot be deleted"):
        del point.x
    with pytest.raises(AttributeError):
        point.z = 2
    assert point == Point(1)


def test_equality_is_that_of_class_and_fields() -> None:
    assert Point(1) != Point(2)
    assert Point(1) != Other(1)
    assert Point(1) != (1, 0)
    assert len({Point(1), Point(1), Point(2)}) == 2


def test_it_shows_its_fields() -> None:
    assert repr(Point(1)) == "Point(x=1, y=0)"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda point: pickle.loads(pickle.dumps(point))])
def test_a_copy_is_equal(again: Any) -> None:
    assert again(Point(1, 2)) == Point(1, 2)
