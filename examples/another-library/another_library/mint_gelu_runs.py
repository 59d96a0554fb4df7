"""mint.nn.functional.gelu: on CPU no release has a kernel for it."""

from __future__ import annotations

import math

from ms_compat import Feature, Finding, Harm, Path, Remedy, Span

#: Prints the value at one point, or what the error says.
_PROGRAM = """
try:
    print(float(mindspore.mint.nn.functional.gelu(mindspore.Tensor([0.5])).asnumpy()[0]))
except RuntimeError as error:
    print(error)
"""


def probe() -> Finding:
    """Compute it in a process of its own: what fails asynchronously could show up in another probe."""
    from ms_compat.probing.alone import run_alone

    said = run_alone(_PROGRAM).output
    if "unregistered" in said:
        return Finding(False, "mint.nn.functional.gelu has no kernel here", {"value": None})
    found, right = float(said), 0.25 * (1 + math.erf(0.5 / math.sqrt(2)))
    return Finding(
        abs(found - right) < 1e-5,
        f"mint.nn.functional.gelu gives {found:.5f} at 0.5 (right: {right:.5f})",
        {"value": round(found, 5)},
    )


FEATURE = Feature(
    name="mint_gelu_runs",
    question="Does mint.nn.functional.gelu run on this device?",
    matters="The feed-forward layers of another_library use it, and its tests run on machines without a card.",
    harm=Harm.FAILS,
    symptom="RuntimeError: The kernel GeluExt unregistered",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="another_library.activations.gelu",
        action="Call another_library.activations.gelu.",
        cost="four operations instead of one",
    ),
    groups=("activations",),
    # What an Ascend does is for somebody who has one to say.
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=("mindspore/mint/nn/functional.py: gelu",),
)
