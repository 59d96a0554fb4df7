"""_GradientEdge: a place in the recorded graph, in the stead of the tensor there."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def _edge_type() -> Any:
    from ms_compat.moved import graph_api

    if not hasattr(graph_api(), "_GradientEdge"):
        raise ApiMissing("mindspore.graph.api._GradientEdge")
    return graph_api()._GradientEdge


def inspect() -> Finding:
    """Look for the class."""
    return Finding(True, f"{_edge_type().__module__} has _GradientEdge")


def probe() -> Finding:
    """Start a backward from an edge instead of from an output."""
    from mindspore import ops

    from ms_compat.probing.tape import value
    from ms_compat.probing.workloads import backward, first_line, leaf, recording, tensor

    edge = _edge_type()
    with recording():
        x = leaf(0.0)
        output = ops.exp(x)
        try:
            backward(edge(output._grad_node, output._output_index, output), start=tensor(3.0))
        except (AttributeError, TypeError, RuntimeError) as error:
            return Finding(
                False,
                f"run_backward does not take an edge: {first_line(error)}",
                {"error": first_line(error), "gradient": None},
            )
        found = value(x._grad)
    return Finding(
        abs(found - 3.0) < 1e-3,
        f"a backward from an edge gives the gradient {found:.4f} (right: 3.0000)",
        {"error": None, "gradient": found},
    )


def counterproof() -> None:
    """A class with the same fields that is no tuple, which MindSpore's C++ part does not take."""
    from ms_compat.moved import graph_api

    class Stranger:
        def __init__(self, *fields: Any) -> None:
            self.grad_node, self.output_index, self.keep_alive_token = fields

    module: Any = graph_api()
    module._GradientEdge = Stranger


FEATURE = Feature(
    name="gradient_edges",
    question="Does run_backward take a place in the graph (_GradientEdge) instead of a tensor?",
    matters=(
        "Zero-bubble pipeline schedules run the backward for activations first and the one for weights later, and "
        "keep edges in between so that the activations can be freed. Below 2.9 run_backward takes tensors only."
    ),
    harm=Harm.FAILS,
    symptom="ImportError: cannot import name '_GradientEdge'; run_backward raises a TypeError for what is no tensor",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Where they are missing, keep the tensors and run one full backward in the place of the weights' part."
        ),
        cost="the bubble that the split was to fill, and the activations stay in memory until then",
        remove_when=">=2.9",
    ),
    groups=("tape", "moved_names"),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=(
        "mindspore/graph/api.py: _GradientEdge",
        "hyper_parallel/platform/mindspore/pipeline_parallel/backward.py",
    ),
    counterproof=counterproof,
    inspect=inspect,
)
