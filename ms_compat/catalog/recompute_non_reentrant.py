"""recompute(use_reentrant=False): recompute by saved-tensor hooks, on any callable."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def inspect() -> Finding:
    """Read the signature."""
    import mindspore

    from ms_compat.probing.workloads import accepts

    named = accepts(mindspore.recompute, "use_reentrant")
    return Finding(named, f"mindspore.recompute {'names' if named else 'does not name'} use_reentrant")


def probe() -> Finding:
    """Recompute a plain function and look at how often it ran, what it was handed and its gradient."""
    from ms_compat.probing.workloads import POINT, SLOPE, curve, first_line, recompute, tensor, value_and_grad

    checkpoint = recompute("use_reentrant")
    strays: list[str] = []
    errors: list[str] = []
    runs: list[None] = []

    # A plain function: the reentrant way takes only a Cell, so a keyword that is understood in name only is found out.
    def body(x: Any, **stray: Any) -> Any:
        runs.append(None)
        strays.extend(stray)
        return curve(x)

    def forward(x: Any) -> Any:
        try:
            return checkpoint(body, x, use_reentrant=False)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
            errors.append(first_line(error))
            return x

    found = float(value_and_grad(forward)(tensor(POINT))[1].asnumpy()[0])
    holds = not errors and not strays and len(runs) == 2 and abs(found - SLOPE) < 1e-3
    return Finding(
        holds,
        f"a plain function under use_reentrant=False ran {len(runs)} times and gave the gradient {found:.4f} "
        f"(right: {SLOPE:.4f})" + (f", with: {errors[0]}" if errors else ""),
        {
            "runs": len(runs),
            "gradient": round(found, 4),
            "right_gradient": round(SLOPE, 4),
            "passed_on": ", ".join(strays) or None,
            "error": errors[0] if errors else None,
        },
    )


def counterproof() -> None:
    """Name the keyword and ignore it."""
    import mindspore

    original = mindspore.recompute

    def reentrant_only(block: Any, *inputs: Any, use_reentrant: bool = True, **options: Any) -> Any:  # noqa: ARG001
        return original(block, *inputs, use_reentrant=True, **options)

    mindspore.recompute = reentrant_only


FEATURE = Feature(
    name="recompute_non_reentrant",
    question="Does recompute understand use_reentrant=False?",
    matters=(
        "Non-reentrant recompute is the only kind that differentiates tensors inside tuples, lists and dicts and the "
        "one HyperParallel checkpoints with. A release without it hands the keyword on to the block, whose own call "
        "then fails or swallows it."
    ),
    harm=Harm.FAILS,
    symptom="TypeError: construct() got an unexpected keyword argument 'use_reentrant'",
    probe=probe,
    remedy=Remedy(
        path=Path.ERROR,
        action="Use MindSpore >= 2.8, or recompute Cells reentrantly and differentiate with value_and_grad.",
        missing="Use MindSpore >= 2.8, or recompute Cells reentrantly and differentiate with value_and_grad.",
        cost="no checkpointing of plain functions or of tensors inside containers below 2.8",
        remove_when=">=2.8",
    ),
    groups=("recompute",),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.11", True)),
    references=("mindspore/common/recompute.py: recompute", "mindspore.recompute documentation"),
    counterproof=counterproof,
    inspect=inspect,
)
