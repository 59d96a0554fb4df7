"""A Parameter and its param_info refer to each other."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_PARAMETERS = 8


def probe() -> Finding:
    """Drop the last reference to some parameters while the collector rests, and see which are still there."""
    import gc
    import weakref

    import mindspore

    from ms_compat.probing.workloads import drain, tensor

    running = gc.isenabled()
    gc.disable()
    try:
        parameters = [mindspore.Parameter(tensor(1.0), name="p") for _ in range(_PARAMETERS)]
        watched = [weakref.ref(parameter) for parameter in parameters]
        drain()
        parameters.clear()
        alive = sum(reference() is not None for reference in watched)
        gc.collect()
        collected = sum(reference() is None for reference in watched)
    finally:
        if running:
            gc.enable()
    if collected != _PARAMETERS:
        raise RuntimeError(f"{_PARAMETERS - collected} of {_PARAMETERS} parameters outlive a collection")
    return Finding(
        not alive,
        f"{alive} of {_PARAMETERS} parameters are alive after their last reference went, until the collector runs",
        {"alive": alive, "parameters": _PARAMETERS},
    )


def counterproof() -> None:
    """Cut the way back from the param_info."""
    import mindspore

    original = mindspore.Parameter.__init__

    def initialize(self: Any, *arguments: Any, **options: Any) -> None:
        original(self, *arguments, **options)
        self._param_info.obj = None

    mindspore.Parameter.__init__ = initialize


FEATURE = Feature(
    name="parameter_freed_at_del",
    question="Is a Parameter freed as soon as nobody refers to it, without the garbage collector?",
    matters=(
        "Replaced or unsharded parameters, a discarded model or an optimizer's states stay until a full collection "
        "comes by, which on a process that disabled the collector for speed is never: device memory is held by what "
        "nobody uses."
    ),
    harm=Harm.GROWS,
    symptom="out of memory although the model was deleted; memory comes back after gc.collect()",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Call gc.collect() after dropping parameters, or cut the cycle when a parameter is dropped: "
            "parameter.param_info.obj = None."
        ),
        cost="a collection takes a tenth of a second and more; a parameter whose cycle was cut must not be used again",
    ),
    groups=("parameters", "memory"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/common/parameter.py: Parameter.param_info",
        "hyper_parallel/platform/mindspore/parameter_param_info_patch.py",
    ),
    counterproof=counterproof,
)
