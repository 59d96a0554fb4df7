"""Version spans: does a build lie in a stretch of releases? The one place that answers it."""

from __future__ import annotations

from ms_compat.frozen import Frozen

__all__ = ["SUPPORTED_MINIMUM", "Span", "lies_in"]

#: The oldest MindSpore this package gives measured answers for.
SUPPORTED_MINIMUM = "2.7.2"


def lies_in(version: str, specifier: str) -> bool | None:
    """Whether a MindSpore version lies in a version specifier; None where the number cannot tell.

    A post-release or a local version (``2.9.0+ascend``) counts as the release it is built on. A pre-release or a dev
    build of X may or may not have what X has, so it is unknown wherever the specifier has a bound at X itself:
    ``2.10.0rc1`` is in ``>=2.9``, but unknown in both ``<2.10`` and ``>=2.10``. A version with an epoch or one that
    PEP 440 cannot read is always unknown.

    Raises:
        packaging.specifiers.InvalidSpecifier: the specifier is not PEP 440.
    """
    # Imported here because every catalog file imports this module, and most look-ups never compare a version.
    from packaging.specifiers import SpecifierSet
    from packaging.version import InvalidVersion, Version

    bounds = SpecifierSet(specifier)
    try:
        parsed = Version(version)
    except InvalidVersion:
        return None
    if parsed.epoch:
        return None
    release = Version(parsed.base_version)
    if parsed.is_prerelease and any(Version(bound.version.removesuffix(".*")) == release for bound in bounds):
        return None
    return release in bounds


class Span(Frozen):
    """What a feature's author states for a stretch of releases.

    Attributes:
        releases: PEP 440 specifier, e.g. ``>=2.9,<2.11``.
        holds: whether the feature holds there.
        device: the device target it speaks of, for what a kernel decides; None where it is the same on all.
    """

    releases: str
    holds: bool
    device: str | None = None

    def answer(self, version: str, device: str) -> bool | None:
        """What this span says of a version on a device target: whether the feature holds; None: it says nothing."""
        if self.device not in {None, device}:
            return None
        return self.holds if lies_in(version, self.releases) else None
