"""recompute(context_fn=): one context round the forward of a block and another round its replay."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

_RIGHT = ("forward(", "block", ")forward", "replay(", "block", ")replay")


def inspect() -> Finding:
    """Read the signature."""
    import mindspore

    from ms_compat.probing.workloads import accepts

    named = accepts(mindspore.recompute, "context_fn")
    return Finding(named, f"mindspore.recompute {'names' if named else 'does not name'} context_fn")


def probe() -> Finding:
    """Note the order in which the contexts and the block run."""
    from ms_compat.probing.workloads import block, curve, recompute, tensor, value_and_grad

    checkpoint = recompute("context_fn", "use_reentrant")
    events: list[str] = []

    @contextlib.contextmanager
    def around(name: str) -> Iterator[None]:
        events.append(f"{name}(")
        try:
            yield
        finally:
            events.append(f"){name}")

    def body(x: Any) -> Any:
        events.append("block")
        return curve(x)

    cell = block(body)
    value_and_grad(
        lambda x: checkpoint(cell, x, use_reentrant=False, context_fn=lambda: (around("forward"), around("replay")))
    )(tensor(0.5))
    order = " ".join(events)
    holds = tuple(events) == _RIGHT
    return Finding(
        holds,
        "the first context encloses the forward and the second the replay"
        if holds
        else f"the contexts ran as [{order}] and not as [{' '.join(_RIGHT)}]",
        {"order": order},
    )


def counterproof() -> None:
    """Take the keyword and forget it."""
    import functools

    import mindspore

    original = mindspore.recompute

    @functools.wraps(original)
    def forgetful(*inputs: Any, context_fn: Any = None, **options: Any) -> Any:  # noqa: ARG001
        return original(*inputs, **options)

    mindspore.recompute = forgetful


FEATURE = Feature(
    name="recompute_context_fn",
    question="Does recompute run the two contexts of context_fn= round the forward and round the replay?",
    matters=(
        "Selective checkpointing, communication overlap and excluding parts of a block are built on these two "
        "contexts. 2.8 hands the keyword on to the block; a block that takes **kwargs swallows it, and everything is "
        "recomputed although it was to be saved."
    ),
    harm=Harm.FAILS,
    symptom="TypeError: construct() got an unexpected keyword argument 'context_fn'; or a policy that has no effect",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.recompute",
        action="Call ms_compat.recompute, which enters both contexts itself on a release that does not.",
        cost="what ms_compat.recompute costs: see recompute_releases_tensors",
        works_on=">=2.8",
        missing="Use MindSpore >= 2.8: older releases have no non-reentrant recompute.",
        remove_when=">=2.9",
    ),
    groups=("recompute",),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=("mindspore/common/recompute.py: null_context_fn", "mindspore.recompute documentation"),
    counterproof=counterproof,
    inspect=inspect,
)
