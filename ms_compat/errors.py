"""The exceptions and warnings of this package."""

from __future__ import annotations

__all__ = [
    "CacheWarning",
    "DriftWarning",
    "FeatureError",
    "FeatureWarning",
    "MsCompatError",
    "MsCompatWarning",
    "RecomputeError",
    "SettingError",
    "SnapshotError",
    "UnknownFeatureError",
    "UnknownGroupError",
    "UnknownVerdictError",
]


class MsCompatError(Exception):
    """Base of every error this package raises."""


class UnknownFeatureError(MsCompatError, AttributeError, KeyError):
    """A name that is not in the catalog; both an AttributeError and a KeyError, as it was asked for."""

    __str__ = Exception.__str__  # KeyError's would show the message in quotes


class UnknownGroupError(MsCompatError, KeyError):
    """A family that no feature belongs to."""

    __str__ = Exception.__str__


class UnknownVerdictError(MsCompatError, RuntimeError):
    """The truth of a verdict was asked for, and nobody knows it."""


class FeatureError(MsCompatError, RuntimeError):
    """A plan with path ERROR was enforced, or a required feature is not met."""


class RecomputeError(MsCompatError, RuntimeError):
    """A recomputed block cannot be run again as it was: the gradient would be computed from the wrong tensors."""


class SettingError(MsCompatError, ValueError):
    """An environment variable or option of this package has a value that is not allowed."""


class SnapshotError(MsCompatError, ValueError):
    """A snapshot cannot be read or belongs to another build."""


class MsCompatWarning(UserWarning):
    """Base of every warning this package gives."""


class FeatureWarning(MsCompatWarning):
    """A plan with path WARN was enforced."""


class DriftWarning(MsCompatWarning):
    """Two sources disagree about a feature."""


class CacheWarning(MsCompatWarning):
    """The cache cannot be used; answers are right all the same, but may be measured again."""
