"""mint.distributed.init_process_group takes no backend that a CPU has."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

#: What is asked for is only whether the backend is accepted: without a launcher the start itself must fail.
_PROGRAM = """
from mindspore.mint import distributed
for backend in ("mccl", "hccl"):
    try:
        distributed.init_process_group(backend)
        print("started")
    except (ValueError, RuntimeError) as error:
        print(type(error).__name__, " ".join(str(error).split())[:120])
"""
_REFUSALS = ("Only support hccl", "should be 'mccl' to init 'CPU'")


def probe() -> Finding:
    """Initialise with the CPU's backend and with the default in a fresh process."""
    from ms_compat.probing.alone import run_alone

    ending = run_alone(_PROGRAM)
    answers = ending.output.splitlines()
    if len(answers) != 2:
        raise RuntimeError(f"the process ended early: {ending}")
    refused = [any(refusal in answer for refusal in _REFUSALS) for answer in answers]
    return Finding(
        not all(refused),
        f"init_process_group on CPU {'refuses' if all(refused) else 'accepts'} "
        f"{'both mccl and hccl' if all(refused) else 'mccl' if not refused[0] else 'hccl'}",
        {"mccl": answers[0], "hccl": answers[1]},
    )


def counterproof() -> None:
    """Let it start what communication.init starts."""
    from ms_compat.probing.alone import change_alone

    change_alone(
        "from mindspore.mint import distributed\n"
        "from mindspore.communication import init\n"
        "distributed.init_process_group = lambda backend: init('mccl')\n"
    )


FEATURE = Feature(
    name="mint_distributed_init_on_cpu",
    question="Can mint.distributed.init_process_group start a group of CPU processes?",
    matters=(
        "A distributed script cannot be tried on CPU as it is: init_process_group accepts 'hccl' only, and then finds "
        "that a CPU needs 'mccl'. HyperParallel calls init_process_group, so its own tests on CPU need another start."
    ),
    harm=Harm.FAILS,
    symptom=(
        "ValueError: Only support hccl now, please setting backend to hccl or using default value; RuntimeError: the "
        "argument 'backend_name' should be 'mccl' to init 'CPU', but got 'hccl'"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "On CPU call mindspore.communication.init('mccl') in a script that msrun has started. all_reduce, "
            "broadcast, barrier and all_gather_object of mint.distributed then work; all_gather_into_tensor and "
            "reduce_scatter_tensor have no CPU kernel."
        ),
        cost="a branch for CPU in the start of the script",
    ),
    groups=("communication",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/mint/distributed/distributed.py: init_process_group",
        "hyper_parallel/platform/mindspore/platform.py: init_process_group",
    ),
    counterproof=counterproof,
)
