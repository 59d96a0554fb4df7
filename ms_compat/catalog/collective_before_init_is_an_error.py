"""mint.distributed.all_reduce before the process group is initialised."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_PROGRAM = """
from mindspore.mint import distributed
summed = mindspore.Tensor([2.0], mindspore.float32)
try:
    distributed.all_reduce(summed)
    print("value", float(summed.asnumpy()[0]))
except RuntimeError as error:
    print("error", str(error).splitlines()[0])
"""


def probe() -> Finding:
    """Reduce in a fresh process that has no process group."""
    from ms_compat.probing.alone import run_alone

    ending = run_alone(_PROGRAM)
    kind, _, text = ending.output.strip().partition(" ")
    if ending.signal:
        said = f"ends the process with signal {ending.signal}"
    elif kind == "error" and "init" in text.lower():
        said = "raises an error that says so"
    elif kind == "value":
        said = "returns as if it had run"
    else:
        raise RuntimeError(f"the process ended otherwise: {text or ending.error}")
    return Finding(
        kind == "error",
        f"all_reduce before init_process_group {said}",
        {"signal": ending.signal, "error": text if kind == "error" else None},
    )


def counterproof() -> None:
    """Look first whether there is a process group."""
    from ms_compat.probing.alone import change_alone

    change_alone(
        "from mindspore.mint import distributed\n"
        "run = distributed.all_reduce\n"
        "def all_reduce(*arguments, **keywords):\n"
        "    if not distributed.is_initialized():\n"
        "        raise RuntimeError('Distributed Communication has not been inited.')\n"
        "    return run(*arguments, **keywords)\n"
        "distributed.all_reduce = all_reduce\n"
    )


FEATURE = Feature(
    name="collective_before_init_is_an_error",
    question="Does a collective before init_process_group raise an error?",
    matters=(
        "all_reduce and barrier do not look whether there is a process group. A script that is started without msrun, "
        "or that reduces a metric before it calls init, ends in a segmentation fault, which names no line of the "
        "script. broadcast and all_gather_object do raise. Measured on CPU."
    ),
    harm=Harm.FAILS,
    symptom="Segmentation fault (core dumped) at mint.distributed.all_reduce or barrier in a single process",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Ask mint.distributed.is_initialized() before a collective, and leave it out where there is one process: "
            "if is_initialized(): all_reduce(value)."
        ),
        cost="nothing",
    ),
    groups=("communication", "errors"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/mint/distributed/distributed.py: all_reduce, barrier",),
    counterproof=counterproof,
)
