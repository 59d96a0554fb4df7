"""Runs one arm of a comparison and prints its series as one JSON line."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from typing import Any

from ms_compat.comparison.workloads import WORKLOADS
from ms_compat.probing.growth import host_bytes, live_tensors

__all__ = ["main"]


def main(text: str) -> None:
    """Run the arm that a JSON request names."""
    request = json.loads(text)
    import mindspore

    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    mindspore.set_device("CPU")
    series: dict[str, Any] = {"tensors": [], "host_bytes": [], "seconds": [], "gradients": [], "error": None}
    try:
        step = WORKLOADS[request["feature"]](request["arm"] == "workaround", request["layers"], request["size"])
        for number in range(request["steps"]):
            began = time.perf_counter()
            gradients = step(number)
            digest = hashlib.sha256(b"".join(gradient.asnumpy().tobytes() for gradient in gradients)).hexdigest()
            series["seconds"].append(time.perf_counter() - began)
            del gradients
            series["gradients"].append(digest[:16])
            series["tensors"].append(live_tensors())
            in_use = host_bytes()
            if in_use is not None:
                series["host_bytes"].append(in_use)
    except Exception as error:  # noqa: BLE001 - that an arm fails is a result
        series["error"] = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"
    sys.stdout.write(json.dumps(series) + "\n")
    sys.stdout.flush()
    # What leaked may block the interpreter's shutdown.
    os._exit(0)
