"""Answers set by hand, in the environment or by a call; a misspelt name fails loudly."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ms_compat.collect import Collection

__all__ = ["Overrides"]


class Overrides:
    """The answers that a person has set.

    Args:
        collection: knows which names there are.
        environment: answers from ``MS_COMPAT_OVERRIDE``.

    Raises:
        UnknownFeatureError: a name is not a feature's.
    """

    def __init__(self, collection: Collection, environment: Mapping[str, bool]) -> None:
        collection.check(environment)
        self._collection = collection
        self._answers = dict(environment)
        self._origins = dict.fromkeys(environment, "MS_COMPAT_OVERRIDE")

    def get(self, name: str) -> bool | None:
        """The answer set for a feature, or None."""
        return self._answers.get(name)

    def origin(self, name: str) -> str:
        """Who set the answer: the environment variable or a call."""
        return self._origins[name]

    def all(self) -> Mapping[str, bool]:
        """Every answer that is set, by name."""
        return dict(self._answers)

    @contextlib.contextmanager
    def temporarily(self, answers: Mapping[str, bool]) -> Iterator[None]:
        """Set answers for the duration of a block.

        Raises:
            UnknownFeatureError: a name is not a feature's; nothing is set then.
        """
        self._collection.check(answers)
        before = self._answers, self._origins
        self._answers = {**self._answers, **answers}
        self._origins = {**self._origins, **dict.fromkeys(answers, "features.override")}
        try:
            yield
        finally:
            self._answers, self._origins = before
