"""load_checkpoint does not look at a file's checksum, and save_checkpoint writes none, unless they are asked to."""

from __future__ import annotations

import functools

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Flip one bit of a weight in a file and load it."""
    import os

    import mindspore

    from ms_compat.probing.names import weight_file
    from ms_compat.probing.workloads import parameter

    weight = parameter(1.5)
    with weight_file("network.ckpt") as path:
        mindspore.save_checkpoint([{"name": "weight", "data": weight}], path)
        assert float(mindspore.load_checkpoint(path)["weight"].asnumpy()[0]) == 1.5  # nothing else is wrong with it
        os.chmod(path, 0o600)
        with open(path, "r+b") as file:
            place = file.read().index(weight.asnumpy().tobytes())
            file.seek(place + 3)
            file.write(b"\x3e")  # the highest byte of 1.5 is 3f
        try:
            loaded = float(mindspore.load_checkpoint(path)["weight"].asnumpy()[0])
        except ValueError:
            return Finding(True, "a flipped bit in a weight is an error", {"saved": 1.5, "loaded": None})
    return Finding(False, f"a flipped bit turns a weight of 1.5 into {loaded}", {"saved": 1.5, "loaded": loaded})


def counterproof() -> None:
    """Let both use the checksum, as they do on request."""
    import mindspore

    mindspore.save_checkpoint = functools.partial(mindspore.save_checkpoint, crc_check=True)
    mindspore.load_checkpoint = functools.partial(mindspore.load_checkpoint, crc_check=True)


FEATURE = Feature(
    name="damaged_checkpoint_is_an_error",
    question="Does load_checkpoint notice that a file's weights are damaged?",
    matters=(
        "A checkpoint that lost a block on its way over a network file system or object store is loaded without a "
        "word, with wrong weights. MindSpore has a checksum, but both sides leave it off unless told otherwise."
    ),
    harm=Harm.WRONG,
    symptom="a resumed run starts with a much higher loss or nan although the checkpoint was loaded without an error",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Pass crc_check=True to save_checkpoint and to load_checkpoint; it works for both formats.",
        cost="one pass over the file's bytes when it is saved and when it is loaded",
    ),
    groups=("checkpoint_files",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/train/serialization.py: _parse_ckpt_proto",),
    counterproof=counterproof,
)
