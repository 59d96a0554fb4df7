"""mindspore.tensor(t) of a Tensor."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Make a Tensor of a Tensor, write to each, and read the other."""
    import mindspore

    from ms_compat.probing.tensors import WRITTEN, numbers
    from ms_compat.probing.workloads import tensor

    def shows(*, written_to_source: bool) -> bool:
        source = tensor(1.0, 2.0)
        made = mindspore.tensor(source)
        written, other = (source, made) if written_to_source else (made, source)
        written.copy_(tensor(WRITTEN, WRITTEN))
        return WRITTEN in numbers(written) and WRITTEN in numbers(other)

    forth, back = shows(written_to_source=True), shows(written_to_source=False)
    return Finding(
        not forth and not back,
        f"a write to the source {'shows' if forth else 'does not show'} in what mindspore.tensor made of it, and "
        f"the other way round it {'shows' if back else 'does not show'}",
        {"source_to_result": forth, "result_to_source": back},
    )


def counterproof() -> None:
    """Copy a Tensor first."""
    import mindspore

    original = mindspore.tensor

    def make(source: Any, *arguments: Any, **options: Any) -> Any:
        copied = source.copy() if isinstance(source, mindspore.Tensor) else source
        return original(copied, *arguments, **options)

    mindspore.tensor = make


FEATURE = Feature(
    name="tensor_function_copies",
    question="Does mindspore.tensor(t) make a Tensor with memory of its own?",
    matters=(
        "torch.tensor(t) and mindspore.tensor(array) copy, this does not: whoever takes it as a copy before writing "
        "in place changes the source as well. mindspore.Tensor(t) shares the memory too."
    ),
    harm=Harm.WRONG,
    symptom="the source changes when a tensor made with mindspore.tensor(source) or Tensor(source) is written to",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Call t.copy().",
        cost="none beyond the copy that was meant",
    ),
    groups=("inplace",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/common/tensor.py: tensor",),
    counterproof=counterproof,
)
