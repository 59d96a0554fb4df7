"""The generated protobuf modules of 2.10.0 refuse a protobuf before 7.34.1, and with it MindSpore's import fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from ms_compat.build import Build

#: The last release before 7 that is in wide use; torch, tensorboard and others hold protobuf below 7.
_OLD = (6, 33, 0)


def probe() -> Finding:
    """Run the generated module of checkpoints with a protobuf that gives itself out for an older one."""
    import contextlib
    import importlib.util
    from unittest import mock

    spec = importlib.util.find_spec("mindspore.train.checkpoint_pb2")
    if spec is None or spec.loader is None:
        raise RuntimeError("mindspore.train.checkpoint_pb2 is not where the checkpoint's protobuf code was")
    try:
        runtime_version: Any = importlib.import_module("google.protobuf.runtime_version")
    except ImportError:  # before 5.26 there was none, and a module that wants to look at it cannot be imported
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        return Finding(True, "the generated code runs with the protobuf that is installed", {"error": None})
    older = dict(zip(("MAJOR", "MINOR", "PATCH"), _OLD, strict=True))
    error_text = None
    with contextlib.ExitStack() as patched:
        for name, value in older.items():
            patched.enter_context(mock.patch.object(runtime_version, name, value))
        try:
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
        except runtime_version.VersionError as error:
            error_text = str(error).splitlines()[0][:160]
    asked = ".".join(map(str, _OLD))
    return Finding(
        error_text is None,
        f"the generated code {'refuses' if error_text else 'runs with'} a protobuf that calls itself {asked}",
        {"protobuf": asked, "error": error_text},
    )


def _harmless(_build: Build) -> str | None:
    from importlib import metadata

    try:
        version = metadata.version("protobuf")
    except metadata.PackageNotFoundError:
        return None
    numbers = tuple(int(part) for part in version.split(".")[:3] if part.isdigit())
    return f"protobuf {version} is installed" if numbers >= (7, 34, 1) else None


FEATURE = Feature(
    name="imports_with_protobuf_before_7",
    question="Can MindSpore be imported with a protobuf before 7?",
    matters=(
        "Many packages hold protobuf below 7, and an installer that is told to keep them, or to install without "
        "dependencies, leaves an older one beside MindSpore 2.10.0. import mindspore then ends in a VersionError. "
        "Up to 2.9 any protobuf from 3.13 on will do."
    ),
    harm=Harm.FAILS,
    symptom="google.protobuf.runtime_version.VersionError: Detected incompatible Protobuf Gencode/Runtime versions",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Install protobuf>=7.34.1 beside MindSpore 2.10: pip install 'protobuf>=7.34.1'.",
        cost="packages that ask for an older protobuf need an environment of their own",
        harmless_when=_harmless,
    ),
    groups=("install",),
    spans=(Span(">=2.7.2,<2.10", True), Span(">=2.10,<2.11", False)),
    references=(
        "mindspore/train/checkpoint_pb2.py: ValidateProtobufRuntimeVersion",
        "mindspore 2.10.0 wheel metadata: Requires-Dist protobuf>=7.34.1",
    ),
)
