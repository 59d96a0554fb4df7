"""mindspore.runtime.MemPool: a pool of memory with an allocator of one's own."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Bind the calls that make a pool; to make one, a library with an allocator for the device is needed."""
    from ms_compat.probing.names import api, refusal

    wanted = {
        "PluggableAllocator": ("library.so", "allocate", "free"),
        "MemPool": ("allocator",),
        "use_mem_pool": ("pool",),
    }
    refusals = [refusal(api("mindspore.runtime", name), *arguments) for name, arguments in wanted.items()]
    refused = [refusal for refusal in refusals if refusal is not None]
    return Finding(
        not refused,
        f"{len(wanted) - len(refused)} of {len(wanted)} calls for a pool of one's own take what they need",
        {"taken": len(wanted) - len(refused), "of": len(wanted), "refused": "; ".join(refused) or None},
    )


def counterproof() -> None:
    """Make pools without an allocator only."""
    from ms_compat.probing.names import api

    runtime: Any = api("mindspore.runtime")
    runtime.MemPool = lambda: None


FEATURE = Feature(
    name="memory_pool_takes_allocator",
    question="Can a pool of memory with an allocator of one's own be used (PluggableAllocator, MemPool, use_mem_pool)?",
    matters="HyperParallel's symmetric memory allocates buffers that all ranks can address through such a pool.",
    harm=Harm.MOVED,
    symptom="AttributeError: module 'mindspore.runtime' has no attribute 'MemPool'",
    probe=probe,
    remedy=Remedy(
        path=Path.ERROR,
        action="Switch symmetric memory off, or use MindSpore >= 2.7.2.",
        cost="collectives copy through MindSpore's own buffers",
    ),
    groups=("memory", "moved_names"),
    spans=(Span(">=2.7.2,<2.11", True),),
    references=(
        "mindspore/runtime/memory.py: MemPool",
        "hyper_parallel/platform/mindspore/symmetric_memory/symmetric_memory.py",
    ),
    counterproof=counterproof,
)
