"""Tensor.view(dtype): the same bytes read as another dtype."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_ONE = 0x3F800000  # the bits of 1.0 in float32


def probe() -> Finding:
    """Read float32 values as int32 and write through the view."""
    import mindspore

    from ms_compat.probing.tensors import numbers
    from ms_compat.probing.workloads import first_line, tensor

    x = tensor(1.0, 2.0)
    try:
        bits = x.view(mindspore.int32)
    except TypeError as error:
        return Finding(False, f"it raises: {first_line(error)}", {"error": first_line(error)})
    read = numbers(bits)[0] == _ONE
    bits[1] = _ONE
    written = numbers(x) == [1.0, 1.0]
    return Finding(
        read and written,
        f"the view {'shows' if read else 'does not show'} the bits of 1.0 and a write to it "
        f"{'arrives' if written else 'does not arrive'}",
        {"error": None, "reads_bits": read, "writes_through": written},
    )


FEATURE = Feature(
    name="view_dtype",
    question="Does view(dtype) show a Tensor's bytes as another dtype, and write to the same memory?",
    matters=(
        "Buffers of bytes that hold parameters of several dtypes (packed optimizer swap, flat communication buffers) "
        "are cut into typed views with it; 2.7.2 takes a shape only."
    ),
    harm=Harm.FAILS,
    symptom="TypeError: view(): argument 'shape' (position 1) must be tuple of int but found type of Int at pos 0",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Keep one buffer per dtype. For a copy of the bits only: mindspore.Tensor(x.asnumpy().view(numpy.int32))."
        ),
        cost="one buffer, and one collective, per dtype",
        remove_when=">=2.8",
    ),
    groups=("views", "storage", "dtype"),
    spans=(Span(">=2.7.2,<2.8", False, device="CPU"), Span(">=2.8,<2.11", True, device="CPU")),
    references=("mindspore/common/tensor.py: Tensor.view",),
)
