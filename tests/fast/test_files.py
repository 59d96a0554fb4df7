from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from ms_compat.files import replace_text

if TYPE_CHECKING:
    from pathlib import Path


def test_the_text_replaces_what_was_there_with_the_mode_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("a much longer text")
    replace_text(str(file), "né", mode=0o640)
    assert file.read_text(encoding="utf-8") == "né"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_bare_name_is_a_file_in_the_current_folder(tmp_path: Path) -> None:
    replace_text("f", "here", mode=0o600)
    assert (tmp_path / "f").read_text() == "here"


def test_a_link_is_replaced_and_what_it_points_to_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("precious")
    (tmp_path / "link").symlink_to("target")
    replace_text(str(tmp_path / "link"), "new", mode=0o600)
    assert (tmp_path / "target").read_text() == "precious"


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
def test_on_a_full_disk_the_former_text_stays_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: Any) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = tmp_path / "f"
    file.write_text("former")
    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left"):
        replace_text(str(file), "new", mode=0o600)
    assert file.read_text() == "former"
    assert os.listdir(tmp_path) == ["f"]


def test_ctrl_c_while_writing_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_text(str(tmp_path / "f"), "new", mode=0o600)
    assert os.listdir(tmp_path) == []
