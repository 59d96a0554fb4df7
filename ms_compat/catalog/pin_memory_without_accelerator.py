"""pin_memory() on a machine that has no accelerator."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Pin a small tensor and read it."""
    import mindspore

    from ms_compat.probing.workloads import first_line, tensor

    if not hasattr(mindspore.Tensor, "pin_memory"):
        raise ApiMissing("mindspore.Tensor.pin_memory")
    try:
        value = float(tensor(2.0).pin_memory().asnumpy()[0])
    except RuntimeError as error:
        if "device context" not in str(error):
            raise
        return Finding(False, "pin_memory raises: it looks for an accelerator", {"error": first_line(error)})
    return Finding(value == 2.0, f"a pinned tensor of 2.0 reads {value}", {"error": None, "value": value})


def counterproof() -> None:
    """Hand the tensor back where there is nothing to pin it for."""
    import mindspore

    def pin_memory(self: Any) -> Any:
        return self

    mindspore.Tensor.pin_memory = pin_memory


FEATURE = Feature(
    name="pin_memory_without_accelerator",
    question="Does pin_memory() work where there is no accelerator?",
    matters=(
        "HyperParallel's offload and swap pass pin_memory=True. Without Ascend, e.g. in CI, the call looks for "
        "the accelerator and raises, where torch would warn and go on. mint.empty(pin_memory=True) raises as well."
    ),
    harm=Harm.FAILS,
    symptom="RuntimeError: Create device context failed, please make sure target device:2 is available",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Pin only where mindspore.get_context('device_target') is not 'CPU': pass pin_memory=False there, and "
            "leave pin_memory() out."
        ),
        cost="nothing on CPU, where pinning has no use",
    ),
    groups=("memory", "storage"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore.Tensor.pin_memory (native)", "hyper_parallel/platform/mindspore/platform.py"),
    counterproof=counterproof,
)
