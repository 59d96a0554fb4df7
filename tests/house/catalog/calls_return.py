from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from tests.house.probing.means import look


def probe() -> Finding:
    return look("calls_return", True, "returned in 1 s")


FEATURE = Feature(
    name="calls_return",
    question="Do calls return?",
    matters="A call that never returns stops the job.",
    harm=Harm.FAILS,
    symptom="silence",
    probe=probe,
    remedy=Remedy(path=Path.ERROR, action="Do not call.", cost="no calls"),
    groups=("calls",),
    spans=(),
    references=("the clock",),
)
