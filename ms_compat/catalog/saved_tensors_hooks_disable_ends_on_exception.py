"""_disable_saved_tensors_hooks is not undone when its block raises."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

_MESSAGE = "no saved-tensor hooks in this block"


def _allowed() -> bool:
    """Whether hooks may be entered."""
    from ms_compat.moved import pynative_executor
    from ms_compat.probing.workloads import identity, saved_tensors_hooks

    try:
        with saved_tensors_hooks(identity):
            return True
    except RuntimeError as error:
        if _MESSAGE not in str(error):
            raise
        # Hooks that are refused have switched the pipeline off already, and nobody switches it on again.
        pynative_executor().enable_frontend_and_bprop_pipeline()
        return False


def probe() -> Finding:
    """Raise inside the block and enter hooks afterwards."""
    from ms_compat.moved import pynative_executor
    from ms_compat.probing.tape import Deliberate, hooks_switch

    disabled = hooks_switch()
    before, after = _allowed(), False
    try:
        with disabled(_MESSAGE):
            within = _allowed()
            raise Deliberate
    except Deliberate:
        after = _allowed()
    finally:
        if not after:
            pynative_executor().set_saved_tensor_hook_disable_error_message(None)
    if not before or within:
        raise RuntimeError(f"hooks are allowed before the block: {before}, inside it: {within}")
    return Finding(
        after,
        f"hooks are {'allowed' if after else 'still refused'} after a block that refuses them raised",
        {"allowed_before": before, "allowed_within": within, "allowed_after": after},
    )


def counterproof() -> None:
    """Undo it however the block ends."""
    from ms_compat.moved import graph_api, pynative_executor

    @contextlib.contextmanager
    def disable(message: str, *, is_error_on_outer_hook: bool = True) -> Iterator[Any]:
        engine = pynative_executor()
        former = engine.disable_saved_tensor_hook(message, is_error_on_outer_hook)
        try:
            yield
        finally:
            engine.set_saved_tensor_hook_disable_error_message(former)

    module: Any = graph_api()
    module._disable_saved_tensors_hooks = disable


FEATURE = Feature(
    name="saved_tensors_hooks_disable_ends_on_exception",
    question="Are saved-tensor hooks allowed again after a block of _disable_saved_tensors_hooks raised?",
    matters=(
        "One exception inside it, caught somewhere above, and no saved-tensor hook can be entered any more in this "
        "process: recompute, activation offload and selective checkpointing all raise with the message of a block "
        "that ended long ago."
    ),
    harm=Harm.FAILS,
    symptom=(
        "RuntimeError: Failure info [the message of an earlier _disable_saved_tensors_hooks] from saved_tensors_hooks"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Put a try inside the block that catches the exception and raise it again behind the block, or call "
            "_pynative_executor.set_saved_tensor_hook_disable_error_message(None) after an exception went through it."
        ),
        cost="none",
    ),
    groups=("saved_tensors", "errors"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/graph/api.py: _disable_saved_tensors_hooks",),
    counterproof=counterproof,
)
