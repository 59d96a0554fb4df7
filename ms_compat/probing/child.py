"""The probing child: runs probes on the real MindSpore and sends results, and nothing else, on its own channel.

It is started as a script with the number of the result channel as its argument and reads one JSON request from
standard input. Messages are JSON lines: ``ready`` (or ``broken``), then ``start`` and ``result`` for each probe, and
``done``.
"""

from __future__ import annotations

import faulthandler
import importlib
import importlib.util
import json
import os
import signal
import sys
import threading
import time
import traceback
from typing import Any


def _load_package(folder: str) -> None:
    """Make ``ms_compat`` importable without putting the folder it stands in on ``sys.path``."""
    spec = importlib.util.spec_from_file_location(
        "ms_compat", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["ms_compat"] = module
    spec.loader.exec_module(module)


def _end_with_parent() -> None:
    """Standard input ends when the parent does, however it ends: then the whole session goes."""
    # Not through sys.stdin: a thread that holds its lock would make the interpreter abort when it ends.
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)


def _start_mindspore(request: dict[str, Any]) -> float:
    """Import MindSpore, check that it is the one that is asked about, and select the device; returns seconds."""
    began = time.perf_counter()
    mindspore = importlib.import_module("mindspore")
    found = os.path.dirname(os.path.abspath(str(mindspore.__file__)))
    if found != request["location"]:
        raise RuntimeError(f"the child imported the MindSpore in {found}, not the one in {request['location']}")
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    mindspore.set_device(request["device"])
    return time.perf_counter() - began


def main(channel: int) -> None:
    """Answer one request."""
    os.set_inheritable(channel, False)
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    out = os.fdopen(channel, "w", encoding="utf-8")
    # Of its own, since a probe may close or replace what it finds as standard error.
    stderr = os.dup(2)

    def send(**message: Any) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    sys.path[:] = request["sys_path"]
    _load_package(request["package"])
    from ms_compat.collect import load_location
    from ms_compat.feature import Feature
    from ms_compat.probing.runner import run_probe

    # A watchdog that needs no interpreter lock: it says where a probe hangs and ends this process.
    faulthandler.dump_traceback_later(request["import_limit"], exit=True, file=stderr)
    try:
        send(event="ready", seconds=_start_mindspore(request))
    except BaseException as error:  # noqa: BLE001 - a broken MindSpore may raise anything, even SystemExit
        traceback.print_exc()
        send(event="broken", cause=f"import mindspore: {type(error).__name__}: {error}")
        return
    for name, location in request["probes"]:
        os.write(stderr, request["mark"].encode())
        send(event="start", name=name)
        feature = load_location(location)
        assert isinstance(feature, Feature)
        faulthandler.dump_traceback_later(feature.time_limit, exit=True, file=stderr)
        began = time.perf_counter()
        measurement = run_probe(feature, counterproof=request["counterproof"])
        seconds = time.perf_counter() - began
        faulthandler.cancel_dump_traceback_later()
        send(event="result", name=name, seconds=seconds, measurement=measurement.as_json())
    send(event="done")


if __name__ == "__main__":
    faulthandler.enable()
    main(int(sys.argv[1]))
    # MindSpore's exit handlers may hang after what the probes did; everything is sent.
    os._exit(0)
