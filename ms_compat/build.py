"""Which MindSpore is installed here, found without importing it.

Nothing in this module may import MindSpore or anything slow: it runs in every process that asks for one feature. That
is why it reads the few files it needs itself instead of going through ``importlib.metadata`` (25 ms).
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import re
import sys
import zlib
from typing import TYPE_CHECKING, Any

from ms_compat.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Build", "find_build"]

#: Distributions that install a package named ``mindspore``.
_DISTRIBUTIONS = r"mindspore(?:[-_.](?:ascend|cpu|gpu|cuda\d*|dev))?"
#: The Python files whose behaviour the catalog speaks of. A wheel patched by hand keeps its version and commit id, so
#: their sizes belong to its identity.
_SOURCE_FOLDERS = ("common", "graph", "nn")


class Build(Frozen):
    """The identity of the installed MindSpore: everything that can change what it does.

    Attributes:
        version: from ``mindspore/version.py``; None when MindSpore is not installed or cannot be read.
        commit: the commit id the package carries, shortened as it stands there; None when there is none.
        python: interpreter and version, e.g. ``cpython-311``.
        numpy: the installed numpy's version, or None.
        platform: operating system and machine, e.g. ``linux-x86_64``.
        device_target: ``CPU``, ``GPU`` or ``Ascend``.
        extension_size: size of the compiled extension in bytes.
        extension_mtime: modification time of the compiled extension in nanoseconds.
        sources: digest of names and sizes of the Python files that shape the behaviour of autograd and cells.
        location: the folder of the package.
        installed_as: ``wheel``, ``editable``, ``path`` (on ``sys.path`` without metadata) or ``missing``.
        problems: what does not fit together, each a sentence.
    """

    version: str | None
    commit: str | None
    python: str
    numpy: str | None
    platform: str
    device_target: str
    extension_size: int | None
    extension_mtime: int | None
    sources: str | None
    location: str | None
    installed_as: str
    problems: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """How a sentence names this build: ``MindSpore 2.10.0 (2d550373) on CPU``."""
        if self.version is None:
            return "no readable MindSpore" if self.location else "no MindSpore"
        commit = f" ({self.commit})" if self.commit else ""
        return f"MindSpore {self.version}{commit} on {self.device_target}"

    @property
    def usable(self) -> bool:
        """Whether there is a MindSpore that could be imported."""
        return self.version is not None and self.extension_size is not None

    def as_json(self) -> dict[str, Any]:
        """The identity as JSON-ready values."""
        return self._asdict() | {"problems": list(self.problems)}

    def identity(self) -> dict[str, Any]:
        """All that can change an answer; two builds with the same identity behave alike."""
        told_elsewhere = {"installed_as", "problems"}
        return {key: value for key, value in self._asdict().items() if key not in told_elsewhere}


def find_build(device_target: str | None = None) -> Build:
    """Identify the installed MindSpore without importing it.

    Args:
        device_target: ``CPU``, ``GPU`` or ``Ascend``; None takes the target MindSpore would choose here.
    """
    problems: list[str] = []
    package = _package_folder(problems)
    version = commit = sources = None
    size = mtime = None
    installed_as = "missing"
    if package is not None:
        version = _assigned(os.path.join(package, "version.py"), "__version__", problems)
        raw_commit = _assigned(os.path.join(package, ".commit_id"), "__commit_id__", [])
        found = re.search(r"\[sha1\]:([0-9a-f]+)", raw_commit or "")
        commit = found.group(1) if found else None
        size, mtime = _extension(package, problems)
        sources = _sources_digest(package)
        installed_as = _check_metadata(package, version, problems)
    return Build(
        version=version,
        commit=commit,
        python=sys.implementation.cache_tag or sys.implementation.name,
        numpy=_numpy_version(),
        platform=f"{sys.platform}-{_machine()}",
        device_target=device_target or _device_target(package),
        extension_size=size,
        extension_mtime=mtime,
        sources=sources,
        location=package,
        installed_as=installed_as,
        problems=tuple(problems),
    )


def _package_folder(problems: list[str]) -> str | None:
    """The folder of the package that ``import mindspore`` would take, or has taken."""
    try:
        spec: importlib.machinery.ModuleSpec | None = importlib.util.find_spec("mindspore")
    except (ImportError, ValueError) as error:
        # A module without a spec was put into sys.modules by hand.
        problems.append(f"mindspore cannot be located: {error}")
        return None
    if spec is None:
        return None
    if spec.origin is None or not spec.submodule_search_locations:
        where = ", ".join(spec.submodule_search_locations or ()) or str(spec.origin)
        problems.append(f"{where} is named mindspore but is not the MindSpore package (it has no __init__.py)")
        return None
    return os.path.dirname(os.path.abspath(spec.origin))


def _assigned(path: str, name: str, problems: list[str]) -> str | None:
    """The string assigned to a name in a Python file, without executing it."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(65536)
    except (OSError, UnicodeDecodeError) as error:
        problems.append(f"{path} cannot be read: {error}")
        return None
    found = re.search(rf"^{name}\s*=\s*(['\"])(.*?)\1", text, re.MULTILINE)
    if found is None:
        problems.append(f"{path} assigns no {name}")
        return None
    return found.group(2)


def _extension(package: str, problems: list[str]) -> tuple[int | None, int | None]:
    """Size and modification time of the compiled extension."""
    try:
        with os.scandir(package) as entries:
            extensions = [
                entry
                for entry in entries
                if entry.name.startswith("_c_expression.")
                and entry.name.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))
            ]
            if not extensions:
                problems.append(f"{package} has no compiled extension for {sys.implementation.cache_tag}")
                return None, None
            stat = extensions[0].stat()
    except OSError as error:
        problems.append(f"{package} cannot be read: {error}")
        return None, None
    return stat.st_size, stat.st_mtime_ns


def _sources_digest(package: str) -> str:
    """A checksum, against accidents and not against attacks: hashlib would double the time of this module."""
    digest = 0
    for folder in _SOURCE_FOLDERS:
        try:
            with os.scandir(os.path.join(package, folder)) as entries:
                files = sorted((entry.name, entry.stat().st_size) for entry in entries if entry.name.endswith(".py"))
        except OSError:
            files = []
        digest = zlib.crc32(repr((folder, files)).encode(), digest)
    return f"{digest:08x}"


def _metadata_folders(names: str) -> Iterator[str]:
    """Metadata folders on ``sys.path`` of the distributions whose name matches a pattern, first found first."""
    wanted = re.compile(rf"{names}(?:-.*)?\.(?:dist|egg)-info", re.IGNORECASE)
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                matches = sorted(entry.path for entry in entries if wanted.fullmatch(entry.name))
        except OSError:
            continue
        yield from matches


def _metadata_version(folder: str) -> str | None:
    for name in ("METADATA", "PKG-INFO"):
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                found = re.search(r"^Version:\s*(\S+)", file.read(8192), re.MULTILINE)
        except OSError:
            continue
        if found:
            return found.group(1)
    return None


def _check_metadata(package: str, version: str | None, problems: list[str]) -> str:
    """How the package was installed; adds a problem where the metadata and the package disagree."""
    folders = list(_metadata_folders(_DISTRIBUTIONS))
    if not folders:
        return "path"
    beside = [folder for folder in folders if os.path.dirname(os.path.abspath(folder)) == os.path.dirname(package)]
    if not beside and not any(_is_editable(folder) for folder in folders):
        problems.append(f"{package} hides the MindSpore installed in {os.path.dirname(folders[0])}")
        return "path"
    for folder in beside or folders:
        stated = _metadata_version(folder)
        if stated is not None and version is not None and stated != version:
            problems.append(
                f"the metadata in {os.path.basename(folder)} says {stated}, but mindspore/version.py says {version}"
            )
    return "wheel" if beside else "editable"


def _is_editable(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "direct_url.json"), encoding="utf-8") as file:
            return '"editable": true' in file.read(8192).replace('":true', '": true')
    except OSError:
        return folder.endswith(".egg-info")


def _numpy_version() -> str | None:
    loaded = sys.modules.get("numpy")
    if loaded is not None:
        return str(getattr(loaded, "__version__", None) or "") or None
    return next((found for folder in _metadata_folders("numpy") if (found := _metadata_version(folder))), None)


def _machine() -> str:
    if hasattr(os, "uname"):
        return os.uname().machine
    import platform  # pragma: no cover - not reached on POSIX

    return platform.machine()  # pragma: no cover - not reached on POSIX


def _device_target(package: str | None) -> str:
    """The target MindSpore runs on here: what the imported one says, else Ascend where there is a card to drive."""
    context = sys.modules.get("mindspore.context")
    if context is not None:
        try:
            return str(context.get_context("device_target"))
        except Exception:  # noqa: BLE001 - a half-imported MindSpore may raise anything here
            return "CPU"
    has_plugin = package is not None and os.path.isdir(os.path.join(package, "lib", "plugin", "ascend"))
    return "Ascend" if has_plugin and _has_ascend_card(os.listdir("/dev") if os.path.isdir("/dev") else ()) else "CPU"


def _has_ascend_card(devices: Mapping[str, Any] | list[str] | tuple[str, ...]) -> bool:
    return any(re.fullmatch(r"davinci\d+", name) for name in devices)
