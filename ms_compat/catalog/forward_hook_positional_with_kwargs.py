"""The second argument of register_forward_hook became keyword-only in 2.9."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Register a forward hook with its second argument given by position, and call the Cell."""
    from ms_compat.probing.workloads import block, curve, first_line, tensor

    seen: list[int] = []
    cell = block(curve)

    def hook(*arguments: Any) -> None:
        seen.append(len(arguments))

    try:
        cell.register_forward_hook(hook, True)
    except TypeError as error:
        return Finding(False, f"it raises: {first_line(error)}", {"error": first_line(error), "hook_arguments": None})
    cell(tensor(0.5))
    return Finding(
        seen == [4],
        f"a hook registered with (hook, True) is called with {seen[0] if seen else 'no'} arguments (with keywords: 4)",
        {"error": None, "hook_arguments": seen[0] if seen else None},
    )


FEATURE = Feature(
    name="forward_hook_positional_with_kwargs",
    question="May with_kwargs of register_forward_hook and register_forward_pre_hook be given by position?",
    matters=(
        "2.9 put prepend before it and made both keyword-only. Code that worked up to 2.8 raises when its hooks are "
        "registered."
    ),
    harm=Harm.FAILS,
    symptom="TypeError: Cell.register_forward_hook() takes 2 positional arguments but 3 were given",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Write register_forward_hook(hook, with_kwargs=True) and register_forward_pre_hook(hook, "
            "with_kwargs=True): that works on every release. prepend= exists from 2.9 only."
        ),
        cost="none",
    ),
    groups=("hooks",),
    spans=(Span(">=2.7.2,<2.9", True), Span(">=2.9,<2.11", False)),
    references=("mindspore/nn/cell.py: Cell.register_forward_hook",),
)
