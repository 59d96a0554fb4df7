"""The environment variables of this package, read and validated in one place."""

from __future__ import annotations

import enum
import os
import warnings
from types import MappingProxyType
from typing import TYPE_CHECKING

from ms_compat.errors import MsCompatWarning, SettingError
from ms_compat.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DEVICE_TARGETS", "ProbeMode", "Settings", "read_settings"]

DEVICE_TARGETS = ("CPU", "GPU", "Ascend")
_ANSWERS = {"yes": True, "no": False}
_VARIABLES = ("MS_COMPAT_OVERRIDE", "MS_COMPAT_PROBE", "MS_COMPAT_CACHE_DIR", "MS_COMPAT_PROBE_DEVICE")


class ProbeMode(enum.Enum):
    """When to probe: where nothing was measured for this build, never, or always (also where something was)."""

    AUTO = "auto"
    NEVER = "never"
    ALWAYS = "always"


class Settings(Frozen):
    """What the environment asks for.

    Attributes:
        overrides: answers by feature name; the names are checked by whoever knows the catalog.
        probe: when to probe.
        cache_dir: absolute path of the cache directory, or None for the user's own.
        device: device target to identify and probe, or None for the one MindSpore would choose.
    """

    overrides: Mapping[str, bool] = MappingProxyType({})
    probe: ProbeMode = ProbeMode.AUTO
    cache_dir: str | None = None
    device: str | None = None


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read and validate every ``MS_COMPAT_*`` variable.

    Raises:
        SettingError: a value is not allowed; says which variable, what it holds and what is allowed.
    """
    environ = os.environ if environ is None else environ
    for name in environ:
        if name.startswith("MS_COMPAT_") and name not in _VARIABLES:
            warnings.warn(
                f"{name} is not a variable of ms_compat and does nothing; there are {', '.join(_VARIABLES)}",
                MsCompatWarning,
                stacklevel=2,
            )
    return Settings(
        overrides=_overrides(environ.get("MS_COMPAT_OVERRIDE", "")),
        probe=_probe_mode(environ.get("MS_COMPAT_PROBE", "")),
        cache_dir=_cache_dir(environ.get("MS_COMPAT_CACHE_DIR", "")),
        device=_device(environ.get("MS_COMPAT_PROBE_DEVICE", "")),
    )


def _overrides(text: str) -> dict[str, bool]:
    overrides: dict[str, bool] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, equals, answer = (part.strip() for part in item.partition("="))
        if not (name and equals and answer in _ANSWERS):
            raise SettingError(
                f"MS_COMPAT_OVERRIDE: expected name=yes or name=no, separated by commas, found {item!r:.80}"
            )
        if overrides.get(name, _ANSWERS[answer]) is not _ANSWERS[answer]:
            raise SettingError(f"MS_COMPAT_OVERRIDE: {name} is set to yes and to no")
        overrides[name] = _ANSWERS[answer]
    return overrides


def _probe_mode(text: str) -> ProbeMode:
    try:
        return ProbeMode(text or "auto")
    except ValueError:
        allowed = ", ".join(mode.value for mode in ProbeMode)
        raise SettingError(f"MS_COMPAT_PROBE: expected one of {allowed}, found {text!r:.80}") from None


def _cache_dir(text: str) -> str | None:
    if text and not os.path.isabs(text):
        raise SettingError(f"MS_COMPAT_CACHE_DIR: expected an absolute path, found {text!r:.200}")
    return text or None


def _device(text: str) -> str | None:
    if text and text not in DEVICE_TARGETS:
        raise SettingError(f"MS_COMPAT_PROBE_DEVICE: expected one of {', '.join(DEVICE_TARGETS)}, found {text!r:.80}")
    return text or None
