"""mint.distributed.send_object_list and recv_object_list."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Bind a call to each signature; to run one, a group of processes is needed."""
    from ms_compat.probing.names import api, refusal

    send = api("mindspore.mint.distributed", "send_object_list")
    receive = api("mindspore.mint.distributed", "recv_object_list")
    refused = refusal(send, ["an object"], 1, group=None) or refusal(receive, [None], 0, group=None)
    return Finding(
        refused is None,
        f"the two do not take a list and a rank: {refused}"
        if refused
        else "the two are there and take a list and a rank",
        {"refused": refused},
    )


def counterproof() -> None:
    """Let them take nothing."""
    from ms_compat.probing.names import api

    distributed: Any = api("mindspore.mint.distributed")
    distributed.send_object_list = lambda: None


FEATURE = Feature(
    name="object_lists_between_ranks",
    question="Can Python objects be sent from one rank to another (send_object_list, recv_object_list)?",
    matters=(
        "A pipeline stage tells the next one shapes and dtypes this way. HyperParallel carries a copy built on the "
        "private _object_to_tensor, which is there on every release."
    ),
    harm=Harm.MOVED,
    symptom="AttributeError: module 'mindspore.mint.distributed' has no attribute 'send_object_list'",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Send the pickled bytes as a uint8 Tensor: first its length, then the bytes.",
        cost="one more message",
        remove_when=">=2.9",
    ),
    groups=("communication", "moved_names"),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=(
        "mindspore/mint/distributed/distributed.py: send_object_list",
        "hyper_parallel/platform/mindspore/object_collectives.py",
    ),
    counterproof=counterproof,
)
