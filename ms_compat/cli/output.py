"""What the commands print: JSON for programs, tables for people."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from ms_compat.feature import Path
from ms_compat.measurement import Answer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

__all__ = ["SCHEMA", "STYLES", "console", "pairs", "print_json", "styled", "table"]

SCHEMA = 1
_WIDE = 200
STYLES = {
    Answer.YES: "green",
    Answer.NO: "red",
    Answer.UNKNOWN: "yellow",
    Path.NATIVE: "green",
    Path.WORKAROUND: "cyan",
    Path.WARN: "yellow",
    Path.ERROR: "red",
}


def print_json(**values: Any) -> None:
    """Print one JSON object with the schema version."""
    json.dump({"schema": SCHEMA, **values}, sys.stdout, indent=2)
    sys.stdout.write("\n")


def console(*, stderr: bool = False) -> Console:
    """The terminal; honours NO_COLOR and COLUMNS, and takes nothing in a text for markup.

    Where it is no terminal, lines are wide: they are read by ``grep`` or land in a log.
    """
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDE

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the process with exit code 1, which here means a finding

    return Terminal(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def styled(value: Answer | Path) -> Text:
    """A verdict or path in its colour."""
    from rich.text import Text

    return Text(value.value, style=STYLES[value])


def table(*columns: str) -> Table:
    """An empty table without frame; the last column takes what room there is."""
    from rich.table import Table

    empty = Table(box=None, pad_edge=False, header_style="bold", expand=False)
    for column in columns[:-1]:
        empty.add_column(column, no_wrap=True)
    empty.add_column(columns[-1], overflow="fold", ratio=1)
    return empty


def pairs() -> Table:
    """An empty list of labels and texts, indented, each text wrapped under itself."""
    from rich.table import Table

    empty = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    empty.add_column(style="dim", no_wrap=True)
    empty.add_column(overflow="fold", ratio=1)
    return empty
