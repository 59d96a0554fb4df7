"""GeneratorDataset keeps the array that a generator yields instead of what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SAMPLES = 6


def probe() -> Finding:
    """Yield one buffer with new values each time, and read once the generator has come to its end."""
    import threading

    import mindspore.dataset as data
    import numpy as np

    buffer: Any = np.zeros(1, np.float32)
    finished = threading.Event()

    def samples() -> Iterator[tuple[Any]]:
        for value in range(_SAMPLES):
            buffer[0] = value
            yield (buffer,)
        finished.set()

    source = data.GeneratorDataset(samples, ["value"], shuffle=False)
    rows = source.create_dict_iterator(num_epochs=1, output_numpy=True)
    next(rows)  # starts the thread that fetches; whether this first one is right depends on who is faster
    if not finished.wait(5.0):  # it fetches ahead, and these few fit into its queue
        raise RuntimeError("the dataset did not fetch its samples ahead")
    read = [float(row["value"][0]) for row in rows]
    right = [float(value) for value in range(1, _SAMPLES)]
    wrong = sum(found != value for found, value in zip(read, right, strict=True))
    return Finding(
        not wrong,
        f"of {len(right)} samples that a generator put into one buffer {wrong} come out wrong",
        {"samples": len(right), "wrong": wrong},
    )


def counterproof() -> None:
    """Copy what a generator yields."""
    import mindspore.dataset as data

    original = data.GeneratorDataset.__init__

    def init(self: Any, source: Callable[[], Any], *arguments: Any, **keywords: Any) -> None:
        def copies() -> Iterator[tuple[Any, ...]]:
            for row in source():
                yield tuple(column.copy() for column in row)

        original(self, copies, *arguments, **keywords)

    data.GeneratorDataset.__init__ = init


FEATURE = Feature(
    name="generator_dataset_copies_samples",
    question="Does a GeneratorDataset keep the values of a sample when the generator reuses its array?",
    matters=(
        "The samples are fetched ahead in another thread and their arrays are not copied. A generator that fills one "
        "buffer again and again, as fast readers do, hands out the latest values for all the samples in the queue: "
        "samples are lost and repeated, depending on timing, with no error."
    ),
    harm=Harm.WRONG,
    symptom="samples repeat or are missing with a generator that yields the same numpy array each time",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Yield a copy: yield (buffer.copy(),).",
        cost="one copy of each sample",
    ),
    groups=("data",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/dataset/engine/datasets_user_defined.py: GeneratorDataset, _convert_row",),
    counterproof=counterproof,
)
