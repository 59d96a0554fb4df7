"""register_custom_pass(pass_type=): how a graph pass of one's own says where it belongs."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Register a library that does not exist; the call says no, or does not know the keyword."""
    from ms_compat.probing.names import api
    from ms_compat.probing.workloads import first_line

    full_graph = api("mindspore.graph", "CustomPassType", "FULL_GRAPH")
    register = api("mindspore.graph", "register_custom_pass")
    try:
        registered = register("ms_compat_probe", "/nonexistent/ms_compat_probe.so", "cpu", pass_type=full_graph)
    except TypeError as error:
        return Finding(False, f"register_custom_pass: {first_line(error)}", {"error": first_line(error)})
    return Finding(
        registered is False,
        "register_custom_pass takes pass_type=CustomPassType.FULL_GRAPH and says no to a library that does not exist",
        {"error": None, "registered": bool(registered)},
    )


def counterproof() -> None:
    """Go back to the stage of 2.8."""
    from ms_compat.probing.names import api

    graph = api("mindspore.graph")
    original = graph.register_custom_pass

    def register(pass_name: str, plugin_so_path: str, device: str = "all", stage: str = "") -> Any:
        del stage
        return original(pass_name, plugin_so_path, device)

    graph.register_custom_pass = register


FEATURE = Feature(
    name="custom_pass_takes_pass_type",
    question="Does register_custom_pass take pass_type=?",
    matters=(
        "HyperParallel's graph scheduler registers its pass as CustomPassType.FULL_GRAPH and needs it for sharded "
        "gradients and parameters. Up to 2.8 the fourth argument is a text called stage, and the type is not there."
    ),
    harm=Harm.MOVED,
    symptom="AttributeError: module 'mindspore.graph' has no attribute 'CustomPassType'",
    probe=probe,
    remedy=Remedy(
        path=Path.ERROR,
        action="Use MindSpore >= 2.9 where a pass has to see the full graph. Pattern passes need no fourth argument.",
        cost="no optimizer level that needs the full-graph pass on 2.8 and older",
        remove_when=">=2.9",
    ),
    groups=("jit", "moved_names"),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=(
        "mindspore/graph/custom_pass.py: register_custom_pass",
        "hyper_parallel/platform/mindspore/hsdp/scheduler.py",
    ),
    counterproof=counterproof,
)
