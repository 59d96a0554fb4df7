"""Options of recompute that a release does not know are handed to the block."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

#: Every option a release up to 2.10 has, at a value that all of them allow together.
_OPTIONS: dict[str, object] = {
    "use_reentrant": False,
    "output_recompute": False,
    "early_stop": True,
    "context_fn": None,
}


def probe() -> Finding:
    """Give every option to a block that takes any keyword, and see which of them it gets."""
    from mindspore import nn

    from ms_compat.probing.workloads import curve, recompute, tensor

    got: set[str] = set()

    class Block(nn.Cell):  # type: ignore[misc]
        def construct(self, x: Any, **keywords: Any) -> Any:
            got.update(keywords)
            return curve(x)

    recompute()(Block(), tensor(0.5), **_OPTIONS)
    astray = [name for name in _OPTIONS if name in got]
    return Finding(
        not astray,
        f"{len(astray)} of {len(_OPTIONS)} options of recompute go to the block"
        + (f": {', '.join(astray)}" if astray else ""),
        {"astray": ", ".join(astray) or None, "options": len(_OPTIONS)},
    )


FEATURE = Feature(
    name="recompute_takes_its_options",
    question="Does recompute take use_reentrant, output_recompute, early_stop and context_fn itself?",
    matters=(
        "Code for a newer release runs on an older one without doing what it says: an option that recompute does not "
        "know goes to the block, where **kwargs swallows it. Selective checkpointing (context_fn) is then off, and "
        "use_reentrant=False is reentrant. A block without **kwargs raises an error that speaks of the block."
    ),
    harm=Harm.FAILS,
    symptom="TypeError: construct() got an unexpected keyword argument 'use_reentrant' (or 'early_stop', 'context_fn')",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.recompute",
        action="Call ms_compat.recompute, which takes the options of the newest release on every supported one.",
        cost=(
            "one pack hook per saved tensor of the block; a replay that saves something else than its forward is an "
            "error"
        ),
        works_on=">=2.8",
        missing="Use MindSpore >= 2.8: older releases have no non-reentrant recompute.",
        remove_when=">=2.9",
    ),
    groups=("recompute",),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=("mindspore/common/recompute.py: recompute",),
)
