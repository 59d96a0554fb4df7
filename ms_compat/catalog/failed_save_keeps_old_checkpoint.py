"""save_checkpoint removes the file of that name before it writes the new one."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def _old_after_failure(form: str) -> bool:
    """Whether a file is still there and whole after a save over it ended in 'File too large'."""
    import resource

    import mindspore
    from mindspore import ops

    from ms_compat.probing.names import weight_file
    from ms_compat.probing.workloads import parameter

    with weight_file(f"network.{form}") as path:
        mindspore.save_checkpoint([{"name": "weight", "data": parameter(1.0)}], path, format=form)
        larger = mindspore.Parameter(ops.ones((100_000,), mindspore.float32), name="weight")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        # What a full disk does, for this process only; a log that goes to a file is well below it.
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
        try:
            mindspore.save_checkpoint([{"name": "weight", "data": larger}], path, format=form)
        except Exception as error:
            if "too large" not in str(error):
                raise
        else:
            raise RuntimeError("a file of 400 KB was written although 300 KB were the limit")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        try:
            return bool(mindspore.load_checkpoint(path, format=form)["weight"].shape == (1,))
        except ValueError as error:
            if "does not exist" not in str(error):
                raise
            return False


def probe() -> Finding:
    """Save over a checkpoint with a limit on the size of files, and load the old one."""
    kept = {form: _old_after_failure(form) for form in ("ckpt", "safetensors")}
    lost = [form for form, whole in kept.items() if not whole]
    return Finding(
        not lost,
        f"a save that fails over an existing file {'loses it as ' + ' and as '.join(lost) if lost else 'leaves it'}",
        {f"kept_{form}": whole for form, whole in kept.items()},
    )


def counterproof() -> None:
    """Write beside the file and put it in its place at the end."""
    import os

    import mindspore

    save = mindspore.save_checkpoint

    def save_beside(values: Any, path: str, **form: str) -> None:
        stem, ending = os.path.splitext(path)
        save(values, f"{stem}-new{ending}", **form)
        os.replace(f"{stem}-new{ending}", path)

    mindspore.save_checkpoint = save_beside


FEATURE = Feature(
    name="failed_save_keeps_old_checkpoint",
    question="Is an existing checkpoint still there when the save that replaces it fails?",
    matters=(
        "A training that saves to one name, e.g. latest.ckpt, has no checkpoint at all from the moment a save begins "
        "until it ends: the old file is removed first. A full disk, a quota, a kill or a preemption in between loses "
        "all progress. The save does raise on a full disk, but then it is too late."
    ),
    harm=Harm.FAILS,
    symptom="the checkpoint file is gone after OSError: No space left on device, or after the job was killed in a save",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Save to another name in the same folder and move it into place when save_checkpoint has returned: "
            "os.replace(new, path)."
        ),
        cost="room for both files during the save",
    ),
    groups=("checkpoint_files",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/train/serialization.py: _exec_save",),
    counterproof=counterproof,
)
