"""handle.remove() called by the hook itself ends the process."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_PROGRAM = """
from mindspore import ops
from ms_compat.probing.workloads import backward, leaf, recording

calls = []
with recording():
    for _ in range(20):
        x = leaf(0.5)

        def once(gradient):
            calls.append(None)
            handle.remove()

        handle = x.register_hook(once)
        backward(ops.exp(x))
        assert abs(float(x._grad.asnumpy()[0]) - 1.6487) < 1e-3
print(len(calls))
"""
_REPAIR = """
native = mindspore.Tensor.register_hook

def register_hook(self, hook):
    calling = []

    def guarded(gradient):
        calling.append(None)
        try:
            return hook(gradient)
        finally:
            calling.clear()

    handle = native(self, guarded)
    remove = handle.remove
    handle.remove = lambda: None if calling else remove()
    return handle

mindspore.Tensor.register_hook = register_hook
"""


def probe() -> Finding:
    """Remove a tensor hook inside itself, in a process of its own."""
    from ms_compat.probing.alone import run_alone

    ending = run_alone(_PROGRAM)
    if ending.error:
        raise RuntimeError(f"the program failed in another way: {ending.error}")
    ended = f"ends the process (signal {ending.signal})" if ending.signal else "works"
    return Finding(
        not ending.signal, f"remove() inside the hook that it removes {ended}", {"crashed": bool(ending.signal)}
    )


def counterproof() -> None:
    """Make remove() wait for the hook to end (here: do nothing)."""
    from ms_compat.probing.alone import change_alone

    change_alone(_REPAIR)


FEATURE = Feature(
    name="hook_removal_inside_hook_is_safe",
    question="May a tensor hook remove itself while it runs?",
    matters=(
        "A hook that is to run once removes itself, as torch allows; profilers, gradient checkers and reduction hooks "
        "do it. MindSpore frees the hook while it calls it, and the process ends without a Python traceback: on a "
        "cluster one rank disappears and the others wait."
    ),
    harm=Harm.FAILS,
    symptom="Segmentation fault (core dumped) in the backward where a hook calls handle.remove()",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.register_hook",
        action=(
            "Register it with ms_compat.register_hook: the remove() of its handle may be called anywhere, also inside "
            "the hook. By default a hook is called in one backward only; for one that is to stay pass "
            "release='with_handle' and keep the handle. With MindSpore's own handle call remove() after the backward."
        ),
        cost="one more Python call per hook",
    ),
    groups=("hooks", "errors"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/common/hook_handle.py: _TensorHookHandle.remove",),
    counterproof=counterproof,
)
