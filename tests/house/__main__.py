"""Runs something on the stand-in catalog in a process of its own: ``ask NAME...`` or ``cli ARGUMENTS...``."""

from __future__ import annotations

import runpy
import signal
import sys

from tests.house import move_in

move_in()
# A process that a shell started in the background ignores Ctrl-C otherwise.
signal.signal(signal.SIGINT, signal.default_int_handler)
what, *arguments = sys.argv[1:]
if what == "ask":
    from ms_compat import features

    for name in arguments:
        verdict = features[name]
        sys.stdout.write(f"{name} {verdict.answer.value} {verdict.source.value}\n")
        sys.stdout.flush()
else:
    sys.argv = ["ms-compat", *arguments]
    runpy.run_module("ms_compat", run_name="__main__")
