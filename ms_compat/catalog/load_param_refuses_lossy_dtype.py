"""load_param_into_net converts values to the dtype of the network, whether they fit or not."""

from __future__ import annotations

import functools
from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Load a float32 that float16 cannot hold and an int64 that int32 cannot hold."""
    import mindspore
    from mindspore import nn

    def loaded(value: float, wide: str, narrow: str) -> float | None:
        def holding(number: float, dtype: str) -> Any:
            return mindspore.Parameter(mindspore.Tensor([number], getattr(mindspore, dtype)), name="weight")

        network = nn.Cell()
        network.weight = holding(0, narrow)
        try:
            mindspore.load_param_into_net(network, {"weight": holding(value, wide)})
        except RuntimeError as error:
            if "same type" not in str(error):
                raise
            return None
        return float(network.weight.asnumpy()[0])

    half, integer = loaded(1e5, "float32", "float16"), loaded(2**40, "int64", "int32")
    return Finding(
        half is None and integer is None,
        "a float32 of 100000 "
        + ("is refused" if half is None else f"becomes {half} in float16")
        + " and an int64 of 2**40 "
        + ("is refused" if integer is None else f"becomes {integer:.0f} in int32"),
        {"float16": None if half is None else str(half), "int32": integer},
    )


def counterproof() -> None:
    """Be strict, as on request."""
    import mindspore

    mindspore.load_param_into_net = functools.partial(mindspore.load_param_into_net, strict_load=True)


FEATURE = Feature(
    name="load_param_refuses_lossy_dtype",
    question="Does load_param_into_net refuse values that the dtype of the network cannot hold?",
    matters=(
        "A checkpoint of another precision is converted without a word. What does not fit becomes infinite or, in "
        "integers, something else: step counters, token counts and optimizer moments in float32 that are loaded into a "
        "network cast to float16. bfloat16 and float32 hold the same range and only lose digits."
    ),
    harm=Harm.WRONG,
    symptom="inf or nan in parameters right after load_checkpoint; an integer buffer is 0 after loading",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Pass strict_load=True to load_param_into_net or load_checkpoint, which makes another dtype an error, and "
            "cast on purpose what may be cast."
        ),
        cost="casts have to be written out; strict_load also switches off the search for names without their prefix",
    ),
    groups=("checkpoint_files", "dtype"),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/train/serialization.py: _type_convert, _update_param",),
    counterproof=counterproof,
)
