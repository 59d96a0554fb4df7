"""init_process_group got group_name before pg_options, so positional arguments shifted."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

#: The order of torch.distributed.init_process_group.
_TORCH = (
    "backend",
    "init_method",
    "timeout",
    "world_size",
    "rank",
    "store",
    "group_name",
    "pg_options",
    "device_id",
)


def probe() -> Finding:
    """Hand nine arguments over by position, and see which parameters they reach; nothing is initialised."""
    import inspect

    from ms_compat.probing.names import api

    signature = inspect.signature(api("mindspore.mint.distributed", "init_process_group"))
    try:
        bound = signature.bind(*_TORCH).arguments
    except TypeError:
        bound = signature.bind(*_TORCH[: len(signature.parameters)]).arguments
    shifted = [f"{value} -> {name}" for name, value in bound.items() if name != value]
    lost = len(_TORCH) - len(bound)
    return Finding(
        not shifted and not lost,
        f"of torch's {len(_TORCH)} positional arguments {len(shifted)} reach another parameter"
        f" and {lost} {'is' if lost == 1 else 'are'} too many",
        {"shifted": ", ".join(shifted) or None, "too_many": lost},
    )


def counterproof() -> None:
    """Put group_name where torch has it, or take it away."""
    import inspect

    from mindspore.mint import distributed

    original = distributed.init_process_group
    parameters = dict(inspect.signature(original).parameters)
    if parameters.pop("group_name", None) is None:
        behind = [parameters.pop(name) for name in ("pg_options", "device_id")]
        named = inspect.Parameter("group_name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default="")
        parameters |= {one.name: one for one in (named, *behind)}
    changed = inspect.Signature(list(parameters.values()))

    def init_process_group(*arguments: Any, **keywords: Any) -> None:
        bound = changed.bind(*arguments, **keywords).arguments
        bound.pop("group_name", None)
        original(**bound)

    init_process_group.__signature__ = changed  # type: ignore[attr-defined]
    distributed.init_process_group = init_process_group


FEATURE = Feature(
    name="init_process_group_in_torch_order",
    question="Does init_process_group take its arguments in torch's order?",
    matters=(
        "2.9 put group_name before pg_options, as torch has it. A call with positional arguments that fits one side "
        "hands the options to the name, or the name to the options, on the other."
    ),
    harm=Harm.MOVED,
    symptom="TypeError from init_process_group about pg_options or group_name after a change of the MindSpore release",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Pass everything behind the backend by keyword, and no group_name where 2.8 or older has to run.",
        cost="nothing",
        remove_when=">=2.9",
    ),
    groups=("communication",),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=(
        "mindspore/mint/distributed/distributed.py: init_process_group",
        "hyper_parallel/platform/mindspore/platform.py: init_process_group",
    ),
    counterproof=counterproof,
)
