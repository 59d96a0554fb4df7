"""What is known about a feature on this build, where it comes from, and what follows for a caller."""

from __future__ import annotations

import enum
import warnings
from typing import TYPE_CHECKING, Any

from ms_compat.errors import FeatureError, FeatureWarning, UnknownVerdictError
from ms_compat.feature import Path
from ms_compat.frozen import Frozen
from ms_compat.measurement import Answer
from ms_compat.span import lies_in

if TYPE_CHECKING:
    from ms_compat.build import Build
    from ms_compat.feature import Evidence, Feature
    from ms_compat.measurement import Measurement

__all__ = ["Answer", "Plan", "Source", "Verdict"]


class Source(enum.Enum):
    """Where a verdict came from, best first."""

    OVERRIDE = "override"
    RECORDED = "recorded"
    CACHED = "cached"
    PROBED = "probed"
    INSPECTED = "inspected"
    DECLARED = "declared"
    NONE = "none"


class Plan(Frozen):
    """The decision for a caller.

    Attributes:
        feature: the feature's name.
        path: native, workaround, warn or error.
        reason: why, as a sentence a person can act on.
        action: what to do, or None on the native path.
        shim: dotted name of the drop-in to call on the workaround path, else None.
        cost: what the remedy costs, or None on the native path.
    """

    feature: str
    path: Path
    reason: str
    action: str | None = None
    shim: str | None = None
    cost: str | None = None

    def enforce(self) -> None:
        """Warn on WARN, raise on ERROR, do nothing on the other paths.

        Raises:
            FeatureError: the path is ERROR.
        """
        message = f"{self.reason} {self.action}" if self.action else self.reason
        if self.path is Path.ERROR:
            raise FeatureError(message)
        if self.path is Path.WARN:
            warnings.warn(message, FeatureWarning, stacklevel=2)


class Verdict(Frozen):
    """What is known about one feature on one build.

    Its truth is the answer: ``if features.recompute_releases_tensors: ...``. The truth of an unknown verdict raises.

    Attributes:
        feature: the catalog entry.
        answer: yes, no or unknown.
        source: where the answer came from.
        build: the build it is about.
        measurement: the figures it rests on; for an unknown the cause.
    """

    feature: Feature
    source: Source
    build: Build
    measurement: Measurement

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.feature.name

    @property
    def answer(self) -> Answer:
        """Yes, no or unknown."""
        return self.measurement.answer

    @property
    def evidence(self) -> Evidence:
        """The numbers the answer rests on."""
        return self.measurement.evidence

    @property
    def known(self) -> bool:
        """Whether the answer is yes or no."""
        return self.answer is not Answer.UNKNOWN

    @property
    def why(self) -> str:
        """One sentence with the numbers."""
        return f"{self.name} is {self.answer.value} on {self.build.label}: {self.measurement.summary} [{self._origin}]."

    @property
    def age_seconds(self) -> float | None:
        """Seconds since it was measured; negative when the clock was set back, None where it was not measured."""
        if self.measurement.measured_at is None:
            return None
        from datetime import datetime, timezone

        return (datetime.now(timezone.utc) - datetime.fromisoformat(self.measurement.measured_at)).total_seconds()

    @property
    def _origin(self) -> str:
        when = self.measurement.measured_at
        return self.source.value if when is None else f"{self.source.value}, measured {when[:10]}"

    def __bool__(self) -> bool:
        if self.answer is Answer.UNKNOWN:
            raise UnknownVerdictError(
                f"{self.why} Unknown is not no: decide with features.get({self.name!r}, if_unknown=...), or follow "
                f"features[{self.name!r}].plan(), which takes the safe path."
            )
        return self.answer is Answer.YES

    def plan(self) -> Plan:
        """What a caller should do. On an unknown verdict a workaround is still taken, since it is safe either way."""
        remedy = self.feature.remedy
        if self.answer is Answer.YES:
            return Plan(self.name, Path.NATIVE, self.why)
        harmless = remedy.harmless_when(self.build) if remedy.harmless_when else None
        if harmless is not None:
            return Plan(self.name, Path.NATIVE, f"{self.why} No harm here: {harmless}.")
        if remedy.missing is not None and self._out_of_reach:
            return Plan(self.name, Path.ERROR, self.why, remedy.missing, None, remedy.cost)
        # What is not known can be warned of, but must not stop a run that may be fine.
        uncertain = self.answer is Answer.UNKNOWN and remedy.path is Path.ERROR
        return Plan(
            self.name, Path.WARN if uncertain else remedy.path, self.why, remedy.action, remedy.shim, remedy.cost
        )

    @property
    def _out_of_reach(self) -> bool:
        """Whether the remedy is of no use on this build."""
        works_on, version = self.feature.remedy.works_on, self.build.version
        if works_on is not None and version is not None:
            return lies_in(version, works_on) is False
        return self.answer is Answer.NO and "missing_api" in self.evidence

    def as_json(self) -> dict[str, Any]:
        """Verdict, source, evidence, age and plan as JSON-ready values."""
        plan = self.plan()
        return {
            **self.measurement.as_json(),
            "source": self.source.value,
            "why": self.why,
            "age_seconds": self.age_seconds,
            "plan": {
                "path": plan.path.value,
                "reason": plan.reason,
                "action": plan.action,
                "shim": plan.shim,
                "cost": plan.cost,
            },
        }
