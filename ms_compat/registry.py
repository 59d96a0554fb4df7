"""Finds the answer for a feature: the one way, from the best source to the last, and `features`, the door to it."""

from __future__ import annotations

import contextlib
import functools
import warnings
from _thread import RLock  # as functools does: importing threading takes 2 ms
from typing import TYPE_CHECKING, Any

from ms_compat.build import find_build
from ms_compat.collect import Collection
from ms_compat.errors import DriftWarning, FeatureError, SettingError, UnknownFeatureError, UnknownGroupError
from ms_compat.feature import Path
from ms_compat.frozen import Frozen
from ms_compat.measurement import Answer, Measurement
from ms_compat.overrides import Overrides
from ms_compat.recorded import Recorded
from ms_compat.settings import ProbeMode, Settings, read_settings
from ms_compat.verdict import Source, Verdict

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import ParamSpec, TypeVar

    from ms_compat.build import Build
    from ms_compat.cache import Cache, Cached
    from ms_compat.feature import Feature
    from ms_compat.probing.runner import Batch, Job, Progress

    RunProbes = Callable[[list[Job], Build], Batch]
    P = ParamSpec("P")
    R = TypeVar("R")

__all__ = ["Drift", "Features", "features", "requires"]

#: Seconds a process waits for another one on this machine that is probing already; beyond the longest honest probing.
_PATIENCE = 300.0


class Drift(Frozen):
    """Two sources that disagree about a feature.

    Attributes:
        feature: the feature's name.
        taken: the source that was followed, and its answer.
        other: the source that says otherwise, and its answer.
    """

    feature: str
    taken: tuple[Source, Answer]
    other: tuple[Source, Answer]

    def __str__(self) -> str:
        (source, answer), (other_source, other_answer) = self.taken, self.other
        return f"{self.feature}: {source.value} says {answer.value}, {other_source.value} says {other_answer.value}"


class Features:
    """All features of the installed MindSpore, each looked up when it is asked for.

    ``features.NAME`` and ``features["NAME"]`` give a `Verdict`. Nothing imports MindSpore here; a build that was not
    recorded is probed once per machine in a child process.
    """

    def __init__(
        self,
        *,
        collection: Collection | None = None,
        settings: Settings | None = None,
        build: Build | None = None,
        recorded: Recorded | None = None,
        cache: Cache | None = None,
        run_probes: RunProbes | None = None,
        patience: float = _PATIENCE,
    ) -> None:
        self._collection = collection or Collection()
        self._given_settings = settings
        self._given_build = build
        self._recorded = recorded or Recorded()
        self._given_cache = cache
        self._run_probes = run_probes
        self._patience = patience
        self._lock = RLock()
        self._probed: dict[str, Measurement] = {}
        self._tried: set[str] = set()
        self._cached: Cached | None = None
        self._snapshot: dict[str, Verdict] = {}

    # Found once, on first use

    @functools.cached_property
    def build(self) -> Build:
        """The installed MindSpore."""
        return self._given_build or find_build(self.settings.device)

    @functools.cached_property
    def settings(self) -> Settings:
        """What the environment asks for."""
        return self._given_settings or read_settings()

    @functools.cached_property
    def overrides(self) -> Overrides:
        """The answers set by hand."""
        try:
            return Overrides(self._collection, self.settings.overrides)
        except UnknownFeatureError as error:
            raise SettingError(f"MS_COMPAT_OVERRIDE: {error}") from error

    @functools.cached_property
    def cache(self) -> Cache:
        """The user's cache."""
        from ms_compat.cache import Cache

        return self._given_cache or Cache(self.settings.cache_dir)

    # Looking up

    def __getattr__(self, name: str) -> Verdict:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Verdict:
        """The verdict on a feature.

        Raises:
            UnknownFeatureError: no feature has that name; the message offers the nearest ones.
        """
        known = self.__dict__.get(name)
        if isinstance(known, Verdict):
            return known
        feature = self._collection.load(name)
        with self._lock:
            # The next look-up finds it as a plain attribute.
            verdict = self.__dict__[name] = self._resolve(feature)
        return verdict

    def get(self, name: str, *, if_unknown: bool) -> bool:
        """The answer as a plain truth value, with the caller's own choice where it is not known.

        Args:
            name: the feature.
            if_unknown: what to return where nobody knows.
        """
        verdict = self[name]
        return verdict.answer is Answer.YES if verdict.known else if_unknown

    def require(self, *names: str, native: bool = False) -> None:
        """Raise unless every one of these features is native here or has a workaround.

        Args:
            names: the features a caller cannot do without.
            native: whether a workaround is not enough: MindSpore itself must do it.

        Raises:
            FeatureError: lists every feature that is not met, with why and what to do.
            UnknownFeatureError: no feature has one of the names.
        """
        self._collection.check(names)
        enough = {Path.NATIVE} if native else {Path.NATIVE, Path.WORKAROUND}
        plans = [self[name].plan() for name in dict.fromkeys(names)]
        unmet = [plan for plan in plans if plan.path not in enough]
        if unmet:
            count = f"{len(unmet)} of {len(plans)} required features" if len(plans) > 1 else "a required feature"
            needed = "native" if native else "native or worked around"
            listed = "".join(f"\n- {plan.reason} {plan.action}" for plan in unmet)
            raise FeatureError(f"{count} must be {needed}, but on {self.build.label}:{listed}")

    def group(self, name: str) -> dict[str, Verdict]:
        """The verdicts on a family of features, by name.

        Raises:
            UnknownGroupError: no feature belongs to such a family; the message lists the families there are.
        """
        groups = self.groups()
        if name not in groups:
            raise UnknownGroupError(f"there is no group {name!r}; there are {', '.join(groups)}")
        return {member: self[member] for member in groups[name]}

    def groups(self) -> dict[str, tuple[str, ...]]:
        """The families, sorted, each with the names of its features."""
        members: dict[str, list[str]] = {}
        for name in self.names():
            for group in self.feature(name).groups:
                members.setdefault(group, []).append(name)
        return {group: tuple(members[group]) for group in sorted(members)}

    def names(self) -> tuple[str, ...]:
        """The names of all features, sorted."""
        return self._collection.names()

    def feature(self, name: str) -> Feature:
        """The catalog entry of a feature."""
        return self._collection.load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.names()})

    # Changing what is known

    @contextlib.contextmanager
    def override(self, **answers: bool) -> Iterator[None]:
        """Set answers by hand for the duration of a block: ``with features.override(recompute_context_fn=False):``."""
        with self.overrides.temporarily(answers):
            self._forget_attributes()
            try:
                yield
            finally:
                self._forget_attributes()

    def probe(
        self, names: Iterable[str] | None = None, *, in_process: bool = False, progress: Progress | None = None
    ) -> Batch:
        """Measure features now, whatever is known about them, and cache what was found.

        Args:
            names: the features; None takes all.
            in_process: probe in this process, for a device that a second process cannot open. Nothing is contained
                then, and ``mindspore.set_device`` raises afterwards.
            progress: called with a name and None when its probe starts, with its measurement when it ends.
        """
        from ms_compat.probing import runner

        wanted = self.names() if names is None else tuple(names)
        self._collection.check(wanted)
        jobs = self._jobs(wanted)
        with self._lock:
            if in_process:
                batch = runner.run_in_process(jobs, self.build.device_target, progress)
            else:
                batch = runner.run_in_child(jobs, self.build, progress=progress)
            self._take_over(batch.measurements)
            self.cache.write(self.build, self._digests(batch.measurements), batch.measurements)
        return batch

    def reset(self) -> None:
        """Forget everything found so far, as in a new process; what is cached on disk stays."""
        with self._lock:
            for name in ("build", "settings", "overrides", "cache"):
                self.__dict__.pop(name, None)
            self._probed, self._tried, self._cached, self._snapshot = {}, set(), None, {}
            self._forget_attributes()

    # Snapshots

    def snapshot(self, path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """All verdicts as JSON-ready values, also written to a file where a path is given."""
        from ms_compat import snapshot

        return snapshot.take(self.build, [self[name] for name in self], path)

    def use_snapshot(self, snapshot: Mapping[str, Any] | str | os.PathLike[str]) -> None:
        """Take over all verdicts of a snapshot; they win over every other source.

        Args:
            snapshot: what `snapshot` returned, or the path of the file it wrote.

        Raises:
            SnapshotError: it cannot be read, or was taken of another MindSpore; nothing is taken over then.
        """
        from ms_compat.snapshot import read

        taken = read(snapshot, self.build, self._collection)
        with self._lock:
            self._snapshot = taken
            self._forget_attributes()

    # Drift

    def drift(self, name: str) -> tuple[Drift, ...]:
        """The sources that disagree with the verdict on a feature; asks no probe."""
        return tuple(self._drift(self[name]))

    def _drift(self, verdict: Verdict) -> Iterator[Drift]:
        if not verdict.known:
            return
        for source, find in (
            (Source.OVERRIDE, self._overridden),
            (Source.RECORDED, self._recorded_for),
            (Source.CACHED, self._cached_for),
            (Source.PROBED, lambda known: self._probed.get(known.name)),
            (Source.DECLARED, self._declared),
        ):
            measurement = find(verdict.feature)
            if measurement is not None and measurement.answer not in {Answer.UNKNOWN, verdict.answer}:
                yield Drift(verdict.name, (verdict.source, verdict.answer), (source, measurement.answer))

    # The one way to an answer

    def _resolve(self, feature: Feature) -> Verdict:
        if feature.name in self._snapshot:
            return self._snapshot[feature.name]
        always = self.settings.probe is ProbeMode.ALWAYS
        sources: list[tuple[Source, Callable[[Feature], Measurement | None]]] = [
            (Source.RECORDED, self._recorded_for),
            (Source.CACHED, self._cached_for),
            (Source.PROBED, self._probed_for),
            (Source.INSPECTED, self._inspected),
            (Source.DECLARED, self._declared),
        ]
        if always:
            sources.insert(0, sources.pop(2))
        sources.insert(0, (Source.OVERRIDE, self._overridden))
        cause: Verdict | None = None
        for source, find in sources:
            measurement = find(feature)
            if measurement is None:
                continue
            if cause is not None and measurement.answer is not Answer.UNKNOWN:
                summary = f"{measurement.summary}; measuring failed: {cause.measurement.summary}"
                measurement = Measurement(measurement.answer, summary, measurement.evidence, measurement.measured_at)
            verdict = Verdict(feature, source, self.build, measurement)
            if verdict.known:
                # Recorded rows are compared with the other sources by this package's own tests.
                if source is not Source.RECORDED:
                    for drift in self._drift(verdict):
                        warnings.warn(f"{drift} ({verdict.why})", DriftWarning, stacklevel=3)
                return verdict
            cause = verdict if cause is None else cause
        if cause is not None:
            return cause
        return Verdict(feature, Source.NONE, self.build, Measurement.unknown(self._why_unknown()))

    def _why_unknown(self) -> str:
        if self.build.version is None:
            return "; ".join(self.build.problems) or "MindSpore is not installed"
        if self.settings.probe is ProbeMode.NEVER:
            return "this build was not recorded, and MS_COMPAT_PROBE=never forbids to measure it"
        if self._asks_before_probing:
            return (
                f"this build was not recorded, and a {self.build.device_target} is not opened unasked: "
                f"MS_COMPAT_PROBE_DEVICE={self.build.device_target} lets it be measured there"
            )
        return "; ".join(self.build.problems) or "nothing is known about this build"

    def _overridden(self, feature: Feature) -> Measurement | None:
        answer = self.overrides.get(feature.name)
        if answer is None:
            return None
        return Measurement(Answer.YES if answer else Answer.NO, f"set by {self.overrides.origin(feature.name)}")

    def _recorded_for(self, feature: Feature) -> Measurement | None:
        return self._recorded.find(self.build, feature.name)

    def _cached_for(self, feature: Feature) -> Measurement | None:
        if not self.build.usable:
            return None
        if self._cached is None:
            self._cached = self.cache.read(self.build)
        return self._cached.find(feature.name, self._collection.digest(feature.name))

    @property
    def _asks_before_probing(self) -> bool:
        """Whether probing would open a card that nobody offered."""
        return self.build.device_target not in {"CPU", self.settings.device}

    def _probed_for(self, feature: Feature) -> Measurement | None:
        never = self.settings.probe is ProbeMode.NEVER
        if feature.name not in self._tried and not never and self.build.usable and not self._asks_before_probing:
            self._probe_missing(feature)
        return self._probed.get(feature.name)

    def _probe_missing(self, feature: Feature) -> None:
        """Probe everything that is not known yet, in one child for all processes of this machine."""
        from ms_compat.probing import runner

        run = self._run_probes or runner.run_in_child
        always = self.settings.probe is ProbeMode.ALWAYS
        with self.cache.lock(self.build, self._patience) as held:
            if not held:
                self._tried.add(feature.name)
                cause = f"another process was still probing after {self._patience:g} s"
                self._probed[feature.name] = Measurement.unknown(cause)
                return
            names = self.names()
            digests = self._digests(names)
            self._cached = self.cache.read(self.build)
            found = {} if always else {name: self._cached.find(name, digests[name]) for name in names}
            known = {name: measurement for name, measurement in found.items() if measurement is not None}
            missing = [
                name for name in names if name not in known and (always or not self._recorded.find(self.build, name))
            ]
            self._tried.update(names)
            measured = run(self._jobs(missing), self.build).measurements if missing else {}
            self._probed.update({**known, **measured})
            if measured:
                self.cache.write(self.build, digests, measured)

    def _inspected(self, feature: Feature) -> Measurement | None:
        # Only where MindSpore is imported already: looking must not import it.
        import sys

        if feature.inspect is None or "mindspore" not in sys.modules:
            return None
        try:
            return Measurement.of(feature.inspect(), None)
        except Exception as error:  # noqa: BLE001 - a look may fail in any way on a MindSpore it was not written for
            return Measurement.unknown(f"inspection raised {type(error).__name__}: {error}")

    def _declared(self, feature: Feature) -> Measurement | None:
        if self.build.version is None:
            return None
        for span in feature.spans:
            holds = span.answer(self.build.version, self.build.device_target)
            if holds is not None:
                answer = Answer.YES if holds else Answer.NO
                return Measurement(answer, f"declared for MindSpore {span.releases}, not measured on this build")
        return None

    def _take_over(self, measurements: Mapping[str, Measurement]) -> None:
        self._probed.update(measurements)
        self._tried.update(measurements)
        self._cached = None
        self._forget_attributes()

    def _jobs(self, names: Iterable[str]) -> list[Job]:
        from ms_compat.probing.runner import Job

        return [Job(self._collection.load(name), self._collection.location(name)) for name in names]

    def _digests(self, names: Iterable[str]) -> dict[str, str]:
        return {name: self._collection.digest(name) for name in names}

    def _forget_attributes(self) -> None:
        # A copy: another thread may be looking something up.
        for name, value in list(self.__dict__.items()):
            if isinstance(value, Verdict):
                self.__dict__.pop(name, None)


#: The verdicts on the installed MindSpore; everything is looked up on first use.
features = Features()


def requires(*names: str, native: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function run only where `Features.require` is content; asked on each call, not where it is defined.

    Args:
        names: the features the function cannot do without.
        native: whether a workaround is not enough.

    Raises:
        FeatureError: (from the function) lists every feature that is not met, with why and what to do.
        UnknownFeatureError: (from the function) no feature has one of the names.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            features.require(*names, native=native)
            return function(*args, **kwargs)

        return run

    return decorate
