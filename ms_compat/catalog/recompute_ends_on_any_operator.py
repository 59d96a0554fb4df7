"""Early stop in an operator of the older kind (LayerNorm, dropout, topk) breaks the replay."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm
from ms_compat.probing.tape import WHOLE_REPLAY
from ms_compat.span import Span


def probe() -> Finding:
    """Recompute blocks whose last operator is one of several, and see which backward raises."""
    from mindspore import nn, ops

    from ms_compat.probing.tape import random_state_kept
    from ms_compat.probing.workloads import block, curve, first_line, recompute, tensor, value_and_grad

    checkpoint = recompute("use_reentrant")
    endings = {
        "exp": curve,
        "LayerNorm": nn.LayerNorm((2,)),
        "dropout": lambda x: ops.dropout(x, 0.5, training=True, seed=1),
        "topk": lambda x: ops.topk(x, 1)[0],
    }
    errors: dict[str, str] = {}
    with random_state_kept():  # the dropout counts its seed on
        for name, body in endings.items():
            cell = block(body)
            try:
                value_and_grad(lambda x, cell=cell: checkpoint(cell, x, use_reentrant=False))(tensor(0.5, 0.75))
            except RuntimeError as error:
                if "input_args_info_stack_ is empty" not in str(error):
                    raise
                errors[name] = first_line(error)
    return Finding(
        not errors,
        f"of {len(endings)} recomputed blocks that end in different operators, {len(errors)} raise in the backward"
        + (f" ({', '.join(errors)}): {next(iter(errors.values()))}" if errors else ""),
        {"raising": ", ".join(errors) or None, "error": next(iter(errors.values()), None), "blocks": len(endings)},
    )


FEATURE = Feature(
    name="recompute_ends_on_any_operator",
    question="May the last operator of a recomputed block be any one, a LayerNorm or a dropout too?",
    matters=(
        "Early stop raises inside the last operator of the block that saves something. Operators of the older kind do "
        "not stand that: a transformer layer that ends in LayerNorm, BatchNorm, dropout, sort or topk cannot be "
        "recomputed, while one that ends in a matrix product or an activation can."
    ),
    harm=Harm.FAILS,
    symptom="RuntimeError: Stack input_args_info_stack_ is empty, in the backward of recompute(use_reentrant=False)",
    probe=probe,
    remedy=WHOLE_REPLAY,
    groups=("recompute",),
    spans=(Span(">=2.7.2,<2.8", False), Span(">=2.8,<2.9", True), Span(">=2.9,<2.11", False)),
    references=(
        "mindspore/common/recompute.py: _RecomputationHook.pack",
        "mindspore/ops/primitive.py: _run_op",
    ),
)
