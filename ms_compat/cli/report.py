"""The commands that tell what is known: ``doctor``, ``list`` and ``show``."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ms_compat.cli import FINDING, FINE, PROBING_FAILED
from ms_compat.cli.output import STYLES, console, pairs, print_json, styled, table
from ms_compat.errors import CacheWarning, DriftWarning, MsCompatError
from ms_compat.feature import Harm, Path
from ms_compat.registry import features
from ms_compat.verdict import Source

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from ms_compat.registry import Drift
    from ms_compat.verdict import Plan, Verdict

__all__ = ["doctor", "list_features", "show"]


@dataclass(frozen=True, slots=True)
class _Report:
    verdicts: Sequence[Verdict]
    plans: dict[str, Plan]
    drift: Sequence[Drift]
    selected: bool

    def with_path(self, *paths: Path) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if self.plans[verdict.name].path in paths]

    def exit_code(self, *, strict: bool) -> int:
        """A finding is drift, or among features that were asked for a call that fails; strictly, all not native.

        That some call of a whole catalog fails is true of every MindSpore.
        """
        failed = [v for v in self.verdicts if not v.known and v.source in (Source.PROBED, Source.CACHED)]
        if failed:
            return PROBING_FAILED
        if self.drift or not features.build.usable or (self.selected and self.with_path(Path.ERROR)):
            return FINDING
        return FINDING if strict and len(self.with_path(Path.NATIVE)) < len(self.verdicts) else FINE


def _collect(names: Iterable[str], *, selected: bool) -> _Report:
    # The report has a section of its own for what these warnings say.
    warnings.simplefilter("ignore", DriftWarning)
    warnings.simplefilter("ignore", CacheWarning)
    verdicts = [features[name] for name in names]
    verdicts.sort(key=lambda verdict: (list(Harm).index(verdict.feature.harm), verdict.name))
    drift = [one for verdict in verdicts for one in features.drift(verdict.name)]
    return _Report(verdicts, {verdict.name: verdict.plan() for verdict in verdicts}, drift, selected)


def doctor(options: argparse.Namespace) -> int:
    """Build, verdicts grouped by what they mean, plans, drift, overrides and cache."""
    report = _collect(features.names(), selected=False)
    cached = features.cache.read(features.build)
    overrides = features.overrides.all()
    if options.json:
        print_json(
            build={**features.build.as_json(), "label": features.build.label},
            features={verdict.name: verdict.as_json() for verdict in report.verdicts},
            drift=[str(drift) for drift in report.drift],
            overrides={name: "yes" if answer else "no" for name, answer in overrides.items()},
            cache={"folder": features.cache.folder, "entries": len(cached), "notes": cached.notes},
            probe=features.settings.probe.value,
        )
        return report.exit_code(strict=options.strict)
    out = console()
    _print_build(out)
    _print_actions(out, report)
    native = report.with_path(Path.NATIVE)
    if native:
        out.print(f"\nFine here ({len(native)}):", style="bold green")
        rows = pairs()
        rows.add_row("", ", ".join(sorted(verdict.name for verdict in native)))
        out.print(rows)
    if report.drift:
        out.print("\nDrift - two sources disagree:", style="bold red")
        for drift in report.drift:
            out.print(f"  {drift}")
    if overrides:
        out.print("\nSet by hand:", style="bold yellow")
        for name, answer in sorted(overrides.items()):
            out.print(f"  {name}={'yes' if answer else 'no'} ({features.overrides.origin(name)})")
    _print_sources(out, report, cached.notes, len(cached))
    return report.exit_code(strict=options.strict)


def _print_build(out: Console) -> None:
    build = features.build
    if build.version is None:
        out.print(
            "MindSpore cannot be read here." if build.location else "No MindSpore is installed.", style="bold red"
        )
    else:
        numpy = f"numpy {build.numpy}" if build.numpy else "no numpy"
        out.print(f"{build.label}, {build.python}, {numpy}, {build.platform} [{build.installed_as}]", style="bold")
    for problem in build.problems:
        out.print(f"  ! {problem}", style="red")
    if build.version is None:
        out.print("  Install one into this environment, e.g.: pip install 'ms-compat[ms210]'")


def _print_actions(out: Console, report: _Report) -> None:
    """What a person has to know first: what to call instead and why, what cannot work, and what to look up."""
    with_path = {path: [verdict for verdict in report.with_path(path) if verdict.known] for path in Path}
    shims = {verdict.name: report.plans[verdict.name].shim for verdict in with_path[Path.WORKAROUND]}
    for shim in dict.fromkeys(shims.values()):
        concerned = [verdict for verdict in with_path[Path.WORKAROUND] if shims[verdict.name] == shim]
        _print_findings(out, f"Call {shim}", Path.WORKAROUND, [(v, v.measurement.summary) for v in concerned])
    _print_findings(
        out, "Does not work here", Path.ERROR, [(v, str(report.plans[v.name].action)) for v in with_path[Path.ERROR]]
    )
    _print_to_mind(out, with_path[Path.WARN])
    unknown = [verdict for verdict in report.verdicts if not verdict.known]
    if unknown and features.build.version is not None:
        for cause in sorted({verdict.measurement.summary for verdict in unknown}):
            names = ", ".join(verdict.name for verdict in unknown if verdict.measurement.summary == cause)
            out.print(f"\nNot known: {names}", style="bold yellow")
            out.print(f"  {cause}")


def _print_findings(out: Console, heading: str, path: Path, told: Sequence[tuple[Verdict, str]]) -> None:
    if told:
        out.print(f"\n{heading}", style=f"bold {STYLES[path]}")
        rows = pairs()
        for verdict, text in told:
            rows.add_row(verdict.feature.harm.value, f"{verdict.name}: {text}")
        out.print(rows)


def _print_to_mind(out: Console, verdicts: Sequence[Verdict]) -> None:
    """Names only: there are many, and what concerns a program can be looked up."""
    if verdicts:
        out.print(
            f"\nMind where your program uses it ({len(verdicts)}; ms-compat show NAME says what to do)",
            style=f"bold {STYLES[Path.WARN]}",
        )
        rows = pairs()
        for harm in Harm:
            names = [verdict.name for verdict in verdicts if verdict.feature.harm is harm]
            if names:
                rows.add_row(harm.value, ", ".join(names))
        out.print(rows)


def _print_sources(out: Console, report: _Report, notes: Sequence[str], cached: int) -> None:
    if features.build.version is None:
        return
    counts = {source: sum(v.source is source for v in report.verdicts) for source in Source}
    told = ", ".join(f"{count} {source.value}" for source, count in counts.items() if count)
    out.print(f"\nAnswers: {told}. Measured on {features.build.device_target}; other devices may differ.", style="dim")
    out.print(f"Cache: {features.cache.folder} ({cached} entries)", style="dim")
    for note in notes:
        out.print(f"  {note}", style="dim")
    out.print("More: ms-compat show NAME, or a family: ms-compat show --group recompute", style="dim")


def list_features(options: argparse.Namespace) -> int:
    """All features with their verdicts, a line each."""
    everything = options.group is None
    report = _collect(features.names() if everything else features.group(options.group), selected=not everything)
    if options.json:
        print_json(
            build=features.build.as_json(), features={verdict.name: verdict.as_json() for verdict in report.verdicts}
        )
    else:
        rows = table("feature", "verdict", "source", "path", "question")
        for verdict in report.verdicts:
            path = styled(report.plans[verdict.name].path)
            rows.add_row(verdict.name, styled(verdict.answer), verdict.source.value, path, verdict.feature.question)
        console().print(rows)
        console().print(f"{len(report.verdicts)} features of {features.build.label}", style="dim")
    return report.exit_code(strict=options.strict)


def show(options: argparse.Namespace) -> int:
    """Everything about some features."""
    family = () if options.group is None else features.group(options.group)
    report = _collect(dict.fromkeys((*options.names, *family)), selected=True)
    if not report.verdicts:
        raise MsCompatError(f"show: name features, or one of these groups: {', '.join(features.groups())}")
    if options.json:
        print_json(
            build=features.build.as_json(),
            features={v.name: {**v.as_json(), "about": _about(v)} for v in report.verdicts},
        )
        return report.exit_code(strict=options.strict)
    out = console()
    for verdict in report.verdicts:
        out.print(verdict.name, style="bold", end="  ")
        out.print(styled(verdict.answer))
        rows = pairs()
        for label, text in _facts(verdict, report.plans[verdict.name]):
            rows.add_row(label, text)
        for drift in features.drift(verdict.name):
            rows.add_row("drift", str(drift), style="red")
        out.print(rows)
    return report.exit_code(strict=options.strict)


def _about(verdict: Verdict) -> dict[str, Any]:
    feature = verdict.feature
    return {
        "question": feature.question,
        "matters": feature.matters,
        "harm": feature.harm.value,
        "symptom": feature.symptom,
        "groups": list(feature.groups),
        "references": list(feature.references),
        "remedy": {
            "path": feature.remedy.path.value,
            "action": feature.remedy.action,
            "shim": feature.remedy.shim,
            "cost": feature.remedy.cost,
            "remove_when": feature.remedy.remove_when,
        },
        "declared": [{"releases": span.releases, "holds": span.holds} for span in feature.spans],
    }


def _facts(verdict: Verdict, plan: Plan) -> list[tuple[str, str]]:
    feature, remedy = verdict.feature, verdict.feature.remedy
    figures = ", ".join(f"{key}={value}" for key, value in verdict.evidence.items()) or "none"
    facts = [
        ("question", feature.question),
        ("why", verdict.why),
        ("evidence", figures),
        ("matters", feature.matters),
        ("harm", feature.harm.value),
        ("symptom", feature.symptom),
        ("plan", plan.path.value),
    ]
    if plan.path is not Path.NATIVE:
        facts.append(("do", str(plan.action)))
    removed = (
        f"the oldest supported MindSpore is {remedy.remove_when}" if remedy.remove_when else "a release repairs it"
    )
    declared = "; ".join(f"{span.releases}: {'yes' if span.holds else 'no'}" for span in feature.spans)
    return [
        *facts,
        ("remedy", f"{remedy.path.value}{f' {remedy.shim}' if remedy.shim else ''}: {remedy.action}"),
        ("cost", remedy.cost),
        ("remove when", removed),
        ("declared", declared or "nothing"),
        ("groups", ", ".join(feature.groups)),
        ("references", "; ".join(feature.references)),
    ]
