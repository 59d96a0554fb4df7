"""What the stand-in features have in common."""

from __future__ import annotations

import os

from ms_compat.feature import Finding


def look(name: str, holds: bool, summary: str) -> Finding:
    """What STANDIN_SAYS sets for a feature (``name=yes`` or ``no`` or ``crash``), else the answer given here."""
    said = dict(item.split("=") for item in os.environ.get("STANDIN_SAYS", "").split(",") if item)
    answer = said.get(name, "yes" if holds else "no")
    if answer == "crash":
        os._exit(9)
    return Finding(answer == "yes", summary, {"looked_at": name})
