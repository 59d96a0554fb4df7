"""What the commands print: JSON for programs, tables for people."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from ms_compat.feature import Path
from ms_compat.measurement import Answer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

__all__ = ["SCHEMA", "console", "print_json", "styled", "table"]

SCHEMA = 1
_STYLES = {
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
    json.dump({"schema": SCHEMA, **values}, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def console(*, stderr: bool = False) -> Console:
    """The terminal; honours NO_COLOR, and takes nothing in a text for markup."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def styled(value: Answer | Path) -> Text:
    """A verdict or path in its colour."""
    from rich.text import Text

    return Text(value.value, style=_STYLES[value])


def table(*columns: str) -> Table:
    """An empty table without frame; the last column takes what room there is."""
    from rich.table import Table

    empty = Table(box=None, pad_edge=False, header_style="bold", expand=False)
    for column in columns[:-1]:
        empty.add_column(column, no_wrap=True)
    empty.add_column(columns[-1], overflow="fold", ratio=1)
    return empty
