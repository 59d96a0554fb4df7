from __future__ import annotations

import importlib.machinery
import json
import os
import sys
import types
from typing import TYPE_CHECKING

import pytest

from ms_compat.build import find_build
from tests.standin import NO_MINDSPORE, a_build, write_metadata, write_mindspore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def alone(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing but the stand-in's folder is on ``sys.path``, and numpy was not imported."""
    monkeypatch.setattr(sys, "path", [str(site)])
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    return site


@pytest.fixture
def on_ascend(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card is in the machine."""
    monkeypatch.setattr(os, "listdir", lambda _: ["null", "davinci0", "davinci_manager"])


def test_an_installed_wheel_is_identified_without_importing_it(alone: Path) -> None:
    package = write_mindspore(alone, version="2.10.0", metadata="2.10.0", commit="2d550373", code="1 / 0")
    write_metadata(alone, "numpy", "1.26.4")
    build = find_build()
    extension = package / f"_c_expression{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    assert (build.version, build.commit, build.numpy) == ("2.10.0", "2d550373", "1.26.4")
    assert (build.extension_size, build.extension_mtime) == (len(b"compiled"), extension.stat().st_mtime_ns)
    assert (build.location, build.installed_as, build.problems) == (str(package), "wheel", ())
    assert build.python == sys.implementation.cache_tag
    assert build.platform == f"{sys.platform}-{os.uname().machine}"
    assert build.usable
    assert "mindspore" not in sys.modules


@pytest.mark.parametrize("version", ["2.10.0", "2.10.0rc1", "2.11.0.dev20260915", "2.9.0+ascend"])
def test_every_form_of_version_is_taken_as_it_stands(alone: Path, version: str) -> None:
    write_mindspore(alone, version=version, metadata=version)
    build = find_build()
    assert build.version == version
    assert build.problems == ()


@pytest.mark.parametrize(
    "name", ["mindspore", "mindspore-ascend", "mindspore_gpu", "mindspore.cuda11", "MindSpore-dev"]
)
def test_every_distribution_that_brings_a_mindspore_counts(alone: Path, name: str) -> None:
    write_mindspore(alone, metadata=None)
    write_metadata(alone, name, "2.99.0")
    assert find_build().installed_as == "wheel"


@pytest.mark.parametrize("name", ["mindspore-lite", "mindformers", "mindspore2"])
def test_a_distribution_with_a_similar_name_does_not_count(alone: Path, name: str) -> None:
    write_mindspore(alone, metadata=None)
    write_metadata(alone, name, "1.0")
    assert find_build().installed_as == "path"


def test_a_package_on_the_path_needs_no_metadata(alone: Path) -> None:
    write_mindspore(alone, metadata=None)
    build = find_build()
    assert (build.installed_as, build.problems) == ("path", ())


@pytest.mark.parametrize("written", ['{"dir_info": {"editable": true}}', '{"dir_info":{"editable":true}}'])
def test_an_editable_installation_is_recognised(alone: Path, tmp_path: Path, written: str) -> None:
    package = write_mindspore(tmp_path / "source", metadata=None)
    (write_metadata(alone, "mindspore", "2.99.0") / "direct_url.json").write_text(written)
    sys.path.append(str(tmp_path / "source"))
    build = find_build()
    assert (build.location, build.installed_as, build.problems) == (str(package), "editable", ())


def test_a_development_installation_of_old_is_editable_too(alone: Path) -> None:
    package = write_mindspore(alone / "source", metadata=None)
    (alone / "mindspore.egg-info").mkdir()
    sys.path.append(str(package.parent))
    assert find_build().installed_as == "editable"


def test_metadata_and_version_file_that_disagree_are_reported(alone: Path) -> None:
    write_mindspore(alone, version="2.10.0", metadata="2.9.0")
    (problem,) = find_build().problems
    assert "mindspore-2.9.0.dist-info says 2.9.0, but mindspore/version.py says 2.10.0" in problem


def test_metadata_without_a_version_disagree_with_nothing(alone: Path) -> None:
    write_mindspore(alone, metadata=None)
    (alone / "mindspore-2.99.0.dist-info").mkdir()
    build = find_build()
    assert (build.installed_as, build.problems) == ("wheel", ())


def test_the_version_of_metadata_of_old_is_found(alone: Path) -> None:
    write_mindspore(alone, version="2.10.0", metadata=None)
    (alone / "mindspore.egg-info").mkdir()
    (alone / "mindspore.egg-info" / "METADATA").write_text("Name: mindspore\n")
    (alone / "mindspore.egg-info" / "PKG-INFO").write_text("Version: 2.9.0\n")
    assert "says 2.9.0" in find_build().problems[0]


def test_a_package_that_hides_an_installed_one_is_reported(alone: Path, tmp_path: Path) -> None:
    write_mindspore(alone)
    package = write_mindspore(tmp_path / "checkout", metadata=None)
    sys.path.insert(0, str(tmp_path / "checkout"))
    build = find_build()
    assert build.installed_as == "path"
    assert build.problems == (f"{package} hides the MindSpore installed in {alone}",)


def test_no_mindspore_is_no_problem(alone: Path) -> None:
    build = find_build()
    assert (build.installed_as, build.label, build.problems) == ("missing", "no MindSpore", ())
    assert not build.usable


def test_a_folder_that_happens_to_be_called_mindspore_is_not_taken_for_it(alone: Path) -> None:
    (alone / "mindspore").mkdir()
    build = find_build()
    assert build.version is None
    assert f"{alone / 'mindspore'} is named mindspore but is not the MindSpore package" in build.problems[0]


def test_a_single_file_called_mindspore_is_not_taken_for_it(alone: Path) -> None:
    (alone / "mindspore.py").write_text("")
    assert "mindspore.py is named mindspore but is not" in find_build().problems[0]


def test_a_module_put_in_by_hand_cannot_be_located(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mindspore", types.ModuleType("mindspore"))
    assert "mindspore cannot be located" in find_build().problems[0]


def test_a_package_that_is_imported_already_is_the_one_meant(
    mindspore: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.machinery.PathFinder.find_spec("mindspore", [str(mindspore.parent)])
    assert spec is not None
    module = types.ModuleType("mindspore")
    module.__spec__ = spec
    monkeypatch.setitem(sys.modules, "mindspore", module)
    write_mindspore(tmp_path / "later", version="3.0")
    monkeypatch.syspath_prepend(tmp_path / "later")
    assert find_build().location == str(mindspore)


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("version.py", None, "version.py cannot be read"),
        ("version.py", b"\xff\xfe", "version.py cannot be read"),
        ("version.py", b"version = 1", "version.py assigns no __version__"),
    ],
)
def test_a_mindspore_whose_version_cannot_be_read_is_not_usable(
    alone: Path, file: str, content: bytes | None, problem: str
) -> None:
    package = write_mindspore(alone)
    (package / file).unlink()
    if content is not None:
        (package / file).write_bytes(content)
    build = find_build()
    assert build.version is None
    assert build.label == "no readable MindSpore"
    assert any(problem in said for said in build.problems)
    assert not build.usable


@pytest.mark.parametrize("commit", [None, "not hex"])
def test_a_build_need_not_have_a_commit(alone: Path, commit: str | None) -> None:
    write_mindspore(alone, commit=commit)
    build = find_build()
    assert (build.commit, build.problems) == (None, ())
    assert build.label == "MindSpore 2.99.0 on CPU"


def test_a_mindspore_compiled_for_another_python_is_not_usable(alone: Path) -> None:
    package = write_mindspore(alone)
    (package / f"_c_expression{importlib.machinery.EXTENSION_SUFFIXES[0]}").unlink()
    (package / "_c_expression.cpython-27m-x86_64-linux-gnu.dll").write_bytes(b"")
    build = find_build()
    assert not build.usable
    assert "has no compiled extension for" in build.problems[0]


def test_a_package_folder_that_cannot_be_read_is_reported(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = write_mindspore(alone)
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path == str(package):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    build = find_build()
    assert not build.usable
    assert any(said.startswith(f"{package} cannot be read") for said in build.problems)


def test_a_patch_to_the_python_files_makes_another_build(alone: Path) -> None:
    package = write_mindspore(alone)
    before = find_build()
    (package / "common" / "api.py").write_text("patched = True\n")
    assert find_build().sources != before.sources


def test_folders_on_the_path_that_do_not_exist_do_no_harm(alone: Path) -> None:
    write_mindspore(alone)
    sys.path.insert(0, str(alone / "nowhere"))
    assert find_build().installed_as == "wheel"


@pytest.mark.parametrize(("stated", "found"), [("2.1.0", "2.1.0"), (None, None), ("", None)])
def test_an_imported_numpy_speaks_for_itself(
    alone: Path, monkeypatch: pytest.MonkeyPatch, stated: str | None, found: str | None
) -> None:
    write_metadata(alone, "numpy", "1.26.4")
    module = types.ModuleType("numpy")
    if stated is not None:
        monkeypatch.setattr(module, "__version__", stated, raising=False)
    monkeypatch.setitem(sys.modules, "numpy", module)
    assert find_build().numpy == found


def test_no_numpy_is_none(alone: Path) -> None:
    assert find_build().numpy is None


class TestTheDeviceTarget:
    def test_is_the_cpu_without_a_plugin(self, alone: Path, on_ascend: None) -> None:
        write_mindspore(alone)
        assert find_build().device_target == "CPU"

    def test_is_the_cpu_without_a_card(self, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (write_mindspore(alone) / "lib" / "plugin" / "ascend").mkdir(parents=True)
        monkeypatch.setattr(os, "listdir", lambda _: ["null", "davinci_manager"])
        assert find_build().device_target == "CPU"

    def test_is_the_cpu_without_any_devices(self, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        package = write_mindspore(alone)
        (package / "lib" / "plugin" / "ascend").mkdir(parents=True)
        isdir = os.path.isdir
        monkeypatch.setattr(os.path, "isdir", lambda path: path != "/dev" and isdir(path))
        assert find_build().device_target == "CPU"

    def test_is_ascend_with_plugin_and_card(self, alone: Path, on_ascend: None) -> None:
        (write_mindspore(alone) / "lib" / "plugin" / "ascend").mkdir(parents=True)
        build = find_build()
        assert build.device_target == "Ascend"
        assert build.label.endswith("on Ascend")

    def test_is_what_the_caller_names(self, alone: Path) -> None:
        assert find_build("GPU").device_target == "GPU"

    def test_is_what_an_imported_mindspore_says(self, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        context = types.ModuleType("mindspore.context")
        monkeypatch.setattr(context, "get_context", {"device_target": "GPU"}.get, raising=False)
        monkeypatch.setitem(sys.modules, "mindspore.context", context)
        assert find_build().device_target == "GPU"

    def test_is_the_cpu_while_a_mindspore_is_half_imported(self, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "mindspore.context", types.ModuleType("mindspore.context"))
        assert find_build().device_target == "CPU"


def test_a_build_is_ready_for_json() -> None:
    build = a_build(problems=("one",))
    assert json.loads(json.dumps(build.as_json()))["problems"] == ["one"]


@pytest.mark.parametrize(("key", "same"), [("installed_as", True), ("problems", True), ("numpy", False)])
def test_the_identity_is_all_that_can_change_an_answer(key: str, same: bool) -> None:
    assert (a_build(**{key: "other"}).identity() == a_build().identity()) is same


def test_a_build_that_is_missing_has_nothing_to_name() -> None:
    assert NO_MINDSPORE.label == "no MindSpore"
