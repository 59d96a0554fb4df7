"""Frozen: typed, immutable objects that say what is wrong with their arguments."""

from __future__ import annotations

import pytest

from ms_compat.frozen import Frozen


class Point(Frozen):
    x: int
    y: int = 0

    def _check(self) -> None:
        if self.x < 0:
            raise ValueError("x must not be negative")


class Named(Frozen, kw_only=True):
    name: str


def test_fields_come_by_position_and_by_name_and_have_defaults() -> None:
    assert Point(1) == Point(x=1, y=0)
    assert Point(1, 2).y == 2
    assert Named(name="a").name == "a"


def test_equality_asks_for_the_same_class_and_the_same_fields() -> None:
    assert Point(1) != Point(2)
    assert Point(1) != (1, 0)
    assert hash(Point(1)) == hash(Point(1, 0))


def test_a_copy_changes_some_fields() -> None:
    assert Point(1)._replace(y=5) == Point(1, 5)


@pytest.mark.parametrize(
    ("arguments", "keywords", "told"),
    [
        ((), {}, r"missing are \['x'\]"),
        ((1,), {"z": 3}, r"unexpected or given twice \['z'\]"),
        ((1,), {"x": 3}, r"unexpected or given twice \['x'\]"),
        ((1, 2, 3), {}, "3 were given without a name"),
    ],
)
def test_wrong_arguments_are_named(arguments: tuple[int, ...], keywords: dict[str, int], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        Point(*arguments, **keywords)


def test_what_takes_names_only_takes_nothing_else() -> None:
    with pytest.raises(TypeError, match="1 were given without a name"):
        Named("a")  # type: ignore[call-arg]


def test_a_class_checks_its_fields() -> None:
    with pytest.raises(ValueError, match="negative"):
        Point(-1)


def test_nothing_can_be_changed_or_deleted() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="x cannot be set to 5"):
        point.x = 5  # type: ignore[misc]
    with pytest.raises(AttributeError, match="x cannot be deleted"):
        del point.x
    assert repr(point) == "Point(x=1, y=0)"
