"""One measured answer in the form it is recorded, cached, sent by the probing child and put into a snapshot."""

from __future__ import annotations

import enum
import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ms_compat.frozen import Frozen

if TYPE_CHECKING:
    from ms_compat.feature import Evidence, Finding

__all__ = ["Answer", "Measurement", "printable"]

_LONGEST_TEXT = 4000


class Answer(enum.Enum):
    """Yes, no, or not known. Unknown is not no."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def printable(text: str) -> str:
    """The text without anything a terminal would act on: control characters become ``?``, line ends stay."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text[:_LONGEST_TEXT])


def _plain(value: int | float | str | bool | None) -> int | float | str | bool | None:
    """A scalar that is safe to print and valid JSON, which NaN and the infinities are not."""
    if isinstance(value, str):
        return printable(value)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


class Measurement(Frozen):
    """An answer with what it rests on.

    Attributes:
        answer: yes, no or unknown.
        summary: one clause with the numbers; for an unknown its cause.
        evidence: the numbers; flat JSON scalars.
        measured_at: when, in UTC, ISO 8601 to the second; None where it was not measured.
    """

    answer: Answer
    summary: str
    evidence: Evidence = MappingProxyType({})
    measured_at: str | None = None

    def _check(self) -> None:
        self.__dict__["summary"] = printable(self.summary)
        clean = {printable(key): _plain(value) for key, value in self.evidence.items()}
        self.__dict__["evidence"] = MappingProxyType(clean)

    @classmethod
    def of(cls, finding: Finding, measured_at: str | None) -> Measurement:
        """The measurement a probe's finding makes."""
        return cls(Answer.YES if finding.holds else Answer.NO, finding.summary, finding.evidence, measured_at)

    @classmethod
    def unknown(
        cls, cause: str, measured_at: str | None = None, **evidence: int | float | str | bool | None
    ) -> Measurement:
        """No answer, and why."""
        return cls(Answer.UNKNOWN, cause, evidence, measured_at)

    def as_json(self) -> dict[str, Any]:
        """JSON-ready values, the inverse of `from_json`."""
        return {
            "verdict": self.answer.value,
            "summary": self.summary,
            "evidence": dict(self.evidence),
            "measured_at": self.measured_at,
        }

    @classmethod
    def from_json(cls, row: object) -> Measurement:
        """Read what `as_json` wrote; keys that are not known are ignored.

        Raises:
            ValueError: says which key holds what instead of what was expected.
        """
        if not isinstance(row, dict):
            raise ValueError(f"expected an object with a verdict, found {type(row).__name__}")
        verdict, summary = row.get("verdict"), row.get("summary")
        evidence, measured_at = row.get("evidence"), row.get("measured_at")
        if verdict not in [answer.value for answer in Answer]:
            raise ValueError(f"verdict: expected yes, no or unknown, found {verdict!r:.60}")
        if not isinstance(summary, str):
            raise ValueError(f"summary: expected text, found {summary!r:.60}")
        if not isinstance(evidence, dict) or not all(
            isinstance(value, (int, float, str, bool, type(None))) for value in evidence.values()
        ):
            raise ValueError(f"evidence: expected an object of numbers and texts, found {evidence!r:.60}")
        if not isinstance(measured_at, (str, type(None))):
            raise ValueError(f"measured_at: expected a time or null, found {measured_at!r:.60}")
        return cls(Answer(verdict), summary, evidence, measured_at)
