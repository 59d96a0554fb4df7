"""What one catalog entry says: a question about MindSpore, the probe that answers it and the remedy for a no."""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import TYPE_CHECKING

from ms_compat.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ms_compat.build import Build
    from ms_compat.span import Span

    Evidence = Mapping[str, int | float | str | bool | None]
    Probe = Callable[[], "Finding"]

__all__ = ["ApiMissing", "Feature", "Finding", "Harm", "Path", "Remedy"]


class Path(enum.Enum):
    """The path a caller takes: what a plan decides and what a remedy offers for a no."""

    NATIVE = "native"
    WORKAROUND = "workaround"
    WARN = "warn"
    ERROR = "error"


class Harm(enum.Enum):
    """What a no does to a run, worst first."""

    WRONG = "silently wrong results"
    GROWS = "memory grows"
    FAILS = "a call fails"
    MOVED = "a name moved or is missing"


class ApiMissing(Exception):
    """Raised by a probe whose API the installed MindSpore does not have; the answer is then a no that names it.

    Args:
        api: dotted name of what is missing, with the keyword where it is one: ``mindspore.recompute(early_stop=)``.
    """

    def __init__(self, api: str) -> None:
        super().__init__(f"this MindSpore has no {api}")
        self.api = api


class Finding(Frozen):
    """What a probe measured.

    Attributes:
        holds: whether the feature holds.
        summary: one clause with the numbers, as it is shown to a person.
        evidence: the numbers themselves; flat, JSON scalars only.
    """

    holds: bool
    summary: str
    evidence: Evidence = MappingProxyType({})

    def _check(self) -> None:
        self.__dict__["evidence"] = MappingProxyType(dict(self.evidence))
        for key, value in self.evidence.items():
            if not isinstance(value, (int, float, str, bool, type(None))):
                raise TypeError(f"evidence must be flat JSON scalars, but {key!r} is a {type(value).__name__}")


class Remedy(Frozen, kw_only=True):
    """What to do when the verdict is no.

    Attributes:
        path: ``WORKAROUND``, ``WARN`` or ``ERROR``.
        action: what the person does, as an instruction.
        cost: what the remedy costs in time, memory or behaviour.
        shim: dotted name of the drop-in to call, or None. A ``WORKAROUND`` needs one.
        works_on: version specifier of the releases the shim works on, or None for all that have the API.
        missing: the instruction where the remedy is of no use (the path is then ``ERROR``): outside of ``works_on``,
            else where the API itself is missing. None where the remedy covers that as well.
        remove_when: version specifier; once the oldest supported MindSpore lies in it, the remedy can go. None
            while no published release makes it unnecessary.
        harmless_when: says for a build why a no does no harm there, or None where it does.
    """

    path: Path
    action: str
    cost: str
    shim: str | None = None
    works_on: str | None = None
    missing: str | None = None
    remove_when: str | None = None
    harmless_when: Callable[[Build], str | None] | None = None

    def _check(self) -> None:
        if self.path is Path.NATIVE:
            raise ValueError("a remedy is for a no: its path is WORKAROUND, WARN or ERROR, not NATIVE")
        if (self.path is Path.WORKAROUND) != (self.shim is not None):
            raise ValueError(f"a WORKAROUND names its shim and nothing else does, but {self.path} has {self.shim!r}")
        if self.works_on is not None and self.missing is None:
            raise ValueError("a remedy that works on some releases only must say in 'missing' what to do on the others")


class Feature(Frozen, kw_only=True):
    """One named behaviour of MindSpore, phrased so that *yes* is good.

    Attributes:
        name: the identifier callers use; also the name of its file in the catalog.
        question: what the probe answers, as a question.
        matters: why it matters, and to whom.
        harm: what a no does to a run.
        symptom: what people see and report where the answer is no.
        probe: runs on the real MindSpore in a child process and returns a `Finding`; raises `ApiMissing`.
        remedy: what to do when the verdict is no.
        groups: families for listing, at least one.
        spans: what the author states for version spans; used only where nothing was measured.
        references: where the facts come from.
        counterproof: changes MindSpore in the probing child so that the same probe must give the other answer;
            needed where every published release gives the same one. It proves that the probe can say both.
        inspect: a look at structure only (no operation is launched), usable in the caller's process; None where
            structure says nothing.
        time_limit: seconds the probe may take before it is stopped.
    """

    name: str
    question: str
    matters: str
    harm: Harm
    symptom: str
    probe: Probe
    remedy: Remedy
    groups: tuple[str, ...]
    spans: tuple[Span, ...]
    references: tuple[str, ...]
    counterproof: Callable[[], None] | None = None
    inspect: Callable[[], Finding] | None = None
    time_limit: float = 30.0

    def _check(self) -> None:
        if not (self.name.isidentifier() and self.name == self.name.lower() and not self.name.startswith("_")):
            raise ValueError(f"a feature's name is a lower-case identifier, not {self.name!r}")
        if not self.question.endswith("?"):
            raise ValueError(f"{self.name}: the question must end with '?', found {self.question!r}")
        for text in ("matters", "symptom"):
            if not getattr(self, text).strip():
                raise ValueError(f"{self.name}: {text!r} must not be empty")
        for several in ("groups", "references"):
            if not getattr(self, several):
                raise ValueError(f"{self.name}: {several!r} needs at least one entry")
        if self.time_limit <= 0:
            raise ValueError(f"{self.name}: time_limit must be positive seconds, found {self.time_limit!r}")
