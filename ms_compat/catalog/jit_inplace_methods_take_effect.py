"""x.add_(1) inside a jitted function."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Add in place in a jitted function and read what it returns."""
    import mindspore

    from ms_compat.probing.workloads import tensor

    @mindspore.jit  # type: ignore[untyped-decorator, unused-ignore]
    def increase(x: Any) -> Any:
        x.add_(1.0)
        return x

    found = float(increase(tensor(1.0)).asnumpy()[0])
    return Finding(
        found == 2.0,
        f"1.0 with add_(1.0) in a jitted function gives {found:.1f} (right: 2.0)",
        {"found": found, "right": 2.0},
    )


FEATURE = Feature(
    name="jit_inplace_methods_take_effect",
    question="Does an in-place method take effect inside a jitted function?",
    matters=(
        "On 2.7.2 x.add_(1) as a statement is lost when the function is compiled: x is returned as it came, without an "
        "error. Measured on CPU."
    ),
    harm=Harm.WRONG,
    symptom="x.add_(...) in a @jit function has no effect",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Use what the method returns, x = x.add_(1.0), or write x = x + 1.0.",
        cost="none",
        remove_when=">=2.8",
    ),
    groups=("jit", "inplace"),
    spans=(Span(">=2.7.2,<2.8", False, device="CPU"), Span(">=2.8,<2.11", True, device="CPU")),
    references=("mindspore/common/api.py: jit",),
)
