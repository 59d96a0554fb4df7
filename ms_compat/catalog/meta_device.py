"""mindspore.DeviceCtx("meta"): a network whose parameters have a shape and no memory."""

from __future__ import annotations

import contextlib

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Build a layer on the meta device and give it memory afterwards."""
    from mindspore import mint, nn

    from ms_compat.probing.names import api

    context = api("mindspore", "DeviceCtx")
    with context("meta"):
        layer = nn.Dense(3, 2)
    outside = nn.Dense(3, 2)
    device = str(layer.weight.device)
    right = device == "meta" and layer.weight.shape == (2, 3) and str(outside.weight.device) != "meta"
    if right:
        layer.weight.set_data(mint.empty_like(layer.weight, device="CPU"))
    filled = str(layer.weight.device)
    return Finding(
        right and filled != "meta",
        f"a layer built inside DeviceCtx('meta') is on {device} and after set_data on {filled}",
        {"device": device, "device_after_set_data": filled},
    )


def counterproof() -> None:
    """Let the context do nothing."""
    import mindspore

    from ms_compat.probing.names import api

    api("mindspore", "DeviceCtx")
    mindspore.DeviceCtx = contextlib.nullcontext


FEATURE = Feature(
    name="meta_device",
    question="Can a network be built on the meta device?",
    matters=(
        "Deferred initialisation builds a large network without memory, shards it and only then fills the shards. "
        "HyperParallel and MindFormers' PyNative models build inside DeviceCtx('meta'), which is there from 2.9 on."
    ),
    harm=Harm.MOVED,
    symptom="AttributeError: module 'mindspore' has no attribute 'DeviceCtx'; Failed to convert the value \"meta\"",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Build inside mindspore.nn.utils.no_init_parameters() and call net.init_parameters_data() when the "
            "parameters are to get their memory."
        ),
        cost="the parameters say has_init instead of is_meta; what an __init__ computes from their values fails",
        remove_when=">=2.9",
    ),
    groups=("moved_names", "parameters", "memory"),
    spans=(Span(">=2.7.2,<2.9", False, device="CPU"), Span(">=2.9,<2.11", True, device="CPU")),
    references=(
        "mindspore/common/device.py: DeviceCtx",
        "mindformers/pynative/trainer/trainer.py",
        "hyper_parallel/platform/mindspore/init_weights.py",
    ),
    counterproof=counterproof,
)
