"""What entries about the packages beside MindSpore share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ms_compat.build import Build

__all__ = ["harmless_with_numpy_1", "major"]


def major(version: str) -> int:
    """The major version, which decides the binary interface."""
    return int(version.partition(".")[0])


def harmless_with_numpy_1(build: Build) -> str | None:
    """Why a no about numpy 2 does no harm on a build, or None where it does."""
    if build.numpy is None or major(build.numpy) >= 2:
        return None
    return f"numpy {build.numpy} is installed"
