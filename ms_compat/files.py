"""Writing a file so that a reader sees the old text or the new one, never half of it."""

from __future__ import annotations

import contextlib
import os
import tempfile

__all__ = ["replace_text"]


def replace_text(path: str, text: str, *, mode: int) -> None:
    """Replace a file's content atomically.

    Args:
        path: the file; its folder must exist.
        text: the new content.
        mode: permission bits of the file.

    Raises:
        OSError: it could not be written; the former file is as it was and nothing is left behind.
    """
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".new-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
