"""recompute(early_stop=): whether a replay runs to its end or stops once every saved tensor is there."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def inspect() -> Finding:
    """Read the signature."""
    import mindspore

    from ms_compat.probing.workloads import accepts

    named = accepts(mindspore.recompute, "early_stop")
    return Finding(named, f"mindspore.recompute {'names' if named else 'does not name'} early_stop")


def probe() -> Finding:
    """Count the replays that reach a block's end, with early stop off and on."""
    from ms_compat.probing.workloads import block, curve, recompute, tensor, value_and_grad

    checkpoint = recompute("early_stop", "use_reentrant")
    ends: list[None] = []

    def body(x: Any) -> Any:
        output = curve(x)
        ends.append(None)  # behind the last saved tensor
        return output

    def replays_that_end(*, early_stop: bool) -> int:
        ends.clear()
        cell = block(body)
        value_and_grad(lambda x: checkpoint(cell, x, use_reentrant=False, early_stop=early_stop))(tensor(0.5))
        return len(ends) - 1

    whole, stopped = replays_that_end(early_stop=False), replays_that_end(early_stop=True)
    return Finding(
        (whole, stopped) == (1, 0),
        f"the block's end is replayed {whole} times with early_stop=False and {stopped} times with early_stop=True",
        {"replayed_ends_without_early_stop": whole, "replayed_ends_with_early_stop": stopped},
    )


def counterproof() -> None:
    """Switch early stop on over the head of the caller, by MindSpore's own global."""
    from ms_compat.probing.workloads import recompute_module

    recompute_module()._enable_recompute_early_stop = True


FEATURE = Feature(
    name="recompute_early_stop_control",
    question="Can a caller say with early_stop= whether a replay runs to its end?",
    matters=(
        "early_stop=False is what makes recompute leak nothing, check its replay and allow higher derivatives. A "
        "release without the keyword hands it on to the block. 2.8 has no early stop at all and needs none of it."
    ),
    harm=Harm.MOVED,
    symptom="TypeError: construct() got an unexpected keyword argument 'early_stop'",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.recompute",
        action="Call ms_compat.recompute, which takes early_stop= on every release. It has no effect there.",
        cost="early_stop=True stops nothing: every replay runs to its end, which is what makes it checkable",
        works_on=">=2.8",
        missing="Use MindSpore >= 2.8: older releases have no non-reentrant recompute.",
        remove_when=">=2.9",
    ),
    groups=("recompute",),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=("mindspore/common/recompute.py: _set_recompute_early_stop", "mindspore.recompute documentation"),
    counterproof=counterproof,
    inspect=inspect,
)
