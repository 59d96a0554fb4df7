from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from tests.house.probing.means import look


def probe() -> Finding:
    return look("numbers_are_right", True, "the sum is 4 as it should be")


FEATURE = Feature(
    name="numbers_are_right",
    question="Are the numbers right?",
    matters="A wrong number is never noticed.",
    harm=Harm.WRONG,
    symptom="a loss that does not fall",
    probe=probe,
    remedy=Remedy(path=Path.WARN, action="Check the numbers.", cost="time"),
    groups=("numbers",),
    spans=(),
    references=("arithmetic", "the abacus"),
)
