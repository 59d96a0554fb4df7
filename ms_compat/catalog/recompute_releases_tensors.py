"""Early stop ends a replay by raising in a pack hook, and each time one Tensor stays behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable

_BLOCKS = 2


def probe() -> Finding:
    """Count the Tensors that stay behind training steps through recomputed blocks."""
    from ms_compat.probing.growth import measure
    from ms_compat.probing.workloads import block, curve, recompute, tensor, value_and_grad

    checkpoint = recompute("use_reentrant")
    cells = [block(curve) for _ in range(_BLOCKS)]

    def training(run: Callable[[Any, Any], Any]) -> Callable[[], None]:
        def forward(x: Any) -> Any:
            for cell in cells:
                x = run(cell, x)
            return x

        gradient = value_and_grad(forward)

        def step() -> None:
            gradient(tensor(0.1, 0.2))

        return step

    growth = measure(
        training(lambda cell, x: checkpoint(cell, x, use_reentrant=False)),
        control=training(lambda cell, x: cell(x)),
        steps=2,
        warmup=1,
    )
    stays = max(0.0, growth.tensors_per_step) / _BLOCKS
    return Finding(
        not growth.leaks_tensors,
        f"{stays:.2f} Tensors per recomputed block and step stay behind (control without recompute 0.00)",
        {"tensors_per_block_and_step": round(stays, 2), "blocks": _BLOCKS, "steps": growth.steps},
    )


def counterproof() -> None:
    """The same recompute without its early stop, or with one where it has none."""
    from ms_compat.probing.workloads import flip_early_stop

    flip_early_stop()


FEATURE = Feature(
    name="recompute_releases_tensors",
    question="Does non-reentrant recompute release every Tensor of a step?",
    matters=(
        "Activation checkpointing is there to save memory; this loses one activation per checkpointed layer on every "
        "step, until a long run ends in an out-of-memory error. The replay stops early by raising in a pack "
        "hook, and the output of the operation it was in is never freed."
    ),
    harm=Harm.GROWS,
    symptom=(
        "host memory grows by one activation per layer and step with recompute(use_reentrant=False); gc.collect() "
        "does not help; the Tensors left over block whoever reads them"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.recompute",
        action="Call ms_compat.recompute instead of mindspore.recompute; its replays run to their end.",
        cost=(
            "the operators after a block's last saved tensor are replayed, which early stop would skip; a replay that "
            "saves something else than its forward is an error"
        ),
        works_on=">=2.8",
        missing="Use MindSpore >= 2.8: older releases have no non-reentrant recompute.",
    ),
    groups=("recompute", "saved_tensors"),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.9", True), Span(">=2.9,<2.11", False)),
    references=("hyper-parallel issue #661", "mindspore/common/recompute.py: _RecomputationHook.pack"),
    counterproof=counterproof,
)
