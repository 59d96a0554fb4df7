"""A stand-in for the package's own house: a catalog of four features whose answers an environment variable sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ms_compat import collect
from tests.house import catalog

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


NAMES = ("calls_return", "frees_memory", "keeps_its_names", "numbers_are_right")


def move_in(patch: Callable[[Any, str, Any], None] = setattr) -> None:
    """Put this catalog in the place of the real one."""
    patch(collect, "catalog", catalog)
