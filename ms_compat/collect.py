"""Which features there are: the files of the catalog, and what other packages add by entry point."""

from __future__ import annotations

import functools
import importlib
import os
import warnings
from typing import TYPE_CHECKING

from ms_compat import catalog
from ms_compat.errors import MsCompatWarning, UnknownFeatureError
from ms_compat.feature import Feature

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Iterable

__all__ = ["ENTRY_POINT_GROUP", "Collection"]

#: Another package adds a feature by an entry point in this group, named like the feature.
ENTRY_POINT_GROUP = "ms_compat.features"


class Collection:
    """All features by name, each loaded when it is first asked for.

    A look-up of a built-in feature imports that feature's file and nothing else; entry points are read only for a name
    that is not built in, and for a listing.
    """

    def __init__(self) -> None:
        self._loaded: dict[str, Feature] = {}
        self._digests: dict[str, str] = {}

    @functools.cached_property
    def _builtin(self) -> dict[str, str]:
        folder = os.path.dirname(catalog.__file__)
        stems = (file.removesuffix(".py") for file in sorted(os.listdir(folder)) if file.endswith(".py"))
        return {stem: f"{catalog.__name__}.{stem}:FEATURE" for stem in stems if not stem.startswith("_")}

    @functools.cached_property
    def _contributed(self) -> dict[str, str]:
        """Entry points by name; what cannot be used is reported once and left out."""
        import importlib_metadata

        found: dict[str, str] = {}
        for point in importlib_metadata.entry_points(group=ENTRY_POINT_GROUP):
            if point.name in self._builtin or found.get(point.name, point.value) != point.value:
                self._report(point.name, f"its name is taken, {point.value} is ignored")
                continue
            try:
                self._loaded[point.name] = _checked(point.name, point.load())
            except Exception as error:  # noqa: BLE001 - whatever another package raises must cost only that feature
                self._report(point.name, f"{point.value} cannot be used: {type(error).__name__}: {error}")
                continue
            found[point.name] = point.value
        return found

    @staticmethod
    def _report(name: str, problem: str) -> None:
        warnings.warn(f"contributed feature {name!r}: {problem}", MsCompatWarning, stacklevel=2)

    def names(self) -> tuple[str, ...]:
        """The names of all features, sorted."""
        return tuple(sorted({**self._builtin, **self._contributed}))

    def location(self, name: str) -> str:
        """Where a feature is defined, as ``module:attribute``.

        Raises:
            UnknownFeatureError: no feature has that name.
        """
        if name in self._builtin:
            return self._builtin[name]
        if name in self._contributed:
            return self._contributed[name]
        raise UnknownFeatureError(_no_such_feature(name, self.names()))

    def load(self, name: str) -> Feature:
        """The feature of that name.

        Raises:
            UnknownFeatureError: no feature has that name; the message offers the nearest ones.
        """
        if name not in self._loaded:
            location = self.location(name)
            self._loaded.setdefault(name, _checked(name, load_location(location)))
        return self._loaded[name]

    def digest(self, name: str) -> str:
        """Digest of what measures a feature: its own file and the shared means of measuring.

        Raises:
            UnknownFeatureError: no feature has that name.
        """
        if name not in self._digests:
            module = importlib.import_module(self.location(name).partition(":")[0])
            digest = self._shared_digest.copy()
            digest.update(_content(getattr(module, "__file__", None)))
            self._digests[name] = digest.hexdigest()[:16]
        return self._digests[name]

    @functools.cached_property
    def _shared_digest(self) -> hashlib._Hash:
        import hashlib

        folder = os.path.join(os.path.dirname(os.path.dirname(catalog.__file__)), "probing")
        return hashlib.sha256(b"".join(_content(os.path.join(folder, file)) for file in sorted(os.listdir(folder))))

    def check(self, names: Iterable[str]) -> None:
        """Make sure that every name is a feature's.

        Raises:
            UnknownFeatureError: one is not.
        """
        for name in names:
            self.location(name)


def load_location(location: str) -> object:
    """Import what ``module:attribute`` names."""
    module, _, attribute = location.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _content(path: str | None) -> bytes:
    """A file's bytes; nothing where there is no such file (a module in an archive) or it is a folder."""
    try:
        with open(path or "", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _checked(name: str, candidate: object) -> Feature:
    if not isinstance(candidate, Feature):
        raise TypeError(f"expected a ms_compat.Feature, found {type(candidate).__name__}")
    if candidate.name != name:
        raise ValueError(f"it is named {candidate.name!r} inside, but {name!r} outside")
    return candidate


def _no_such_feature(name: str, names: tuple[str, ...]) -> str:
    import difflib

    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else "'ms-compat list' shows all names"
    return f"there is no feature {name!r}; {hint}"
