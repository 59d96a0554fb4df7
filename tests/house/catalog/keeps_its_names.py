from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from tests.house.probing.means import look


def probe() -> Finding:
    found = look("keeps_its_names", True, "every name is where it was")
    if not found.holds:
        raise ApiMissing("mindspore.old_name")
    return found


FEATURE = Feature(
    name="keeps_its_names",
    question="Are the names where they were?",
    matters="An import of a name that moved fails.",
    harm=Harm.MOVED,
    symptom="ImportError",
    probe=probe,
    remedy=Remedy(
        path=Path.WORKAROUND,
        shim="ms_compat.old_name",
        action="Take the name from there.",
        missing="Upgrade MindSpore.",
        cost="nothing",
    ),
    groups=("names", "calls"),
    spans=(),
    references=("the map",),
)
