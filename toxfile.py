"""Reports ``ms211`` as not published, by name, for as long as no 2.11 wheel can be had; it never passes unrun."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tox.execute.api import StdinSource
from tox.plugin import impl
from tox.tox_env.errors import Skip

if TYPE_CHECKING:
    from tox.tox_env.api import ToxEnv

_NOT_PUBLISHED = "No matching distribution found"


@impl
def tox_on_install(tox_env: ToxEnv, arguments: Any, section: str, of_type: str) -> None:  # noqa: ARG001
    """Ask the package index for a 2.11 wheel before installing it."""
    if tox_env.conf.name != "ms211" or of_type != "deps":
        return
    wanted = [str(line) for line in arguments.lines()]
    asked = tox_env.execute(
        ["python", "-m", "pip", "install", "--dry-run", "--no-deps", "--quiet", *wanted],
        stdin=StdinSource.OFF,
        show=False,
        run_id="published",
    )
    # Any other failure, e.g. no network, is not an answer: the install that follows fails loudly.
    if asked.exit_code and _NOT_PUBLISHED in asked.err:
        raise Skip(f"MindSpore 2.11 is not published ({' '.join(wanted)}); nothing was tested")
