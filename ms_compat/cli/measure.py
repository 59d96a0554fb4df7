"""The commands that measure: ``probe``, ``record`` and ``verify``."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING

from ms_compat.cli import FINDING, FINE, PROBING_FAILED
from ms_compat.cli.output import console, print_json, styled, table
from ms_compat.errors import DriftWarning, MsCompatError
from ms_compat.measurement import Answer, Measurement
from ms_compat.recorded import RECORDED_FOLDER, row_key, row_name, write_row
from ms_compat.registry import features

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from rich.progress import Progress

    from ms_compat.probing.runner import Batch

__all__ = ["probe", "record", "verify"]


def _measure(names: Sequence[str], *, in_process: bool = False) -> Batch:
    """Probe features, showing progress on standard error where that is a terminal."""
    if not features.build.usable:
        problems = "; ".join(features.build.problems) or "none is installed"
        raise MsCompatError(f"there is no MindSpore to measure here: {problems}")
    warnings.simplefilter("ignore", DriftWarning)  # each command shows it in its own way
    if not sys.stderr.isatty():
        return features.probe(names, in_process=in_process)
    with _progress() as progress:
        task = progress.add_task("starting MindSpore", total=len(names))

        def show(name: str, measurement: Measurement | None) -> None:
            progress.update(task, description=name, advance=0 if measurement is None else 1)

        return features.probe(names, in_process=in_process, progress=show)


def _progress() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    return Progress(*columns, console=console(stderr=True), transient=True)


def _failed(batch: Batch) -> bool:
    return any(measurement.answer is Answer.UNKNOWN for measurement in batch.measurements.values())


def _print_batch(batch: Batch) -> None:
    out = console()
    rows = table("feature", "verdict", "seconds", "measured")
    for name, measurement in sorted(batch.measurements.items()):
        seconds = f"{batch.seconds[name]:.2f}" if name in batch.seconds else "-"
        rows.add_row(name, styled(measurement.answer), seconds, measurement.summary)
    out.print(rows)
    started = "" if batch.import_seconds is None else f"; importing MindSpore took {batch.import_seconds:.1f} s"
    where = f"{batch.children} child(ren)" if batch.children else "this process"
    out.print(f"{len(batch.measurements)} probed on {features.build.label}, in {where}{started}", style="dim")


def probe(options: argparse.Namespace) -> int:
    """Measure features now."""
    batch = _measure(options.names or features.names(), in_process=options.in_process)
    drift = [str(one) for name in batch.measurements for one in features.drift(name)]
    if options.json:
        print_json(
            build=features.build.as_json(),
            features={name: one.as_json() for name, one in sorted(batch.measurements.items())},
            seconds={name: round(seconds, 3) for name, seconds in batch.seconds.items()},
            import_seconds=batch.import_seconds,
            children=batch.children,
            drift=drift,
        )
    else:
        _print_batch(batch)
        for one in drift:
            console().print(f"drift: {one}", style="red")
    if _failed(batch):
        return PROBING_FAILED
    return FINDING if drift and options.strict else FINE


def record(options: argparse.Namespace) -> int:
    """Probe every feature and write this build's row."""
    batch = _measure(features.names(), in_process=options.in_process)
    if not options.json:
        _print_batch(batch)
    path = options.output or os.path.join(RECORDED_FOLDER, row_name(row_key(features.build)))
    if not _failed(batch):
        try:
            write_row(path, features.build, batch.measurements)
        except (OSError, ValueError) as error:
            raise MsCompatError(f"the row cannot be written to {path}: {error}") from error
    if options.json:
        print_json(
            build=row_key(features.build),
            features={name: one.as_json() for name, one in sorted(batch.measurements.items())},
            written=None if _failed(batch) else path,
        )
    elif _failed(batch):
        print("ms-compat: nothing was written: a row is complete or not there at all", file=sys.stderr)
    else:
        console().print(f"written to {path}")
    return PROBING_FAILED if _failed(batch) else FINE


def verify(options: argparse.Namespace) -> int:
    """Probe every feature again and fail where an answer differs from the known one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = {name: features[name] for name in features}
    batch = _measure(features.names())
    rows = [(known[name], measurement) for name, measurement in sorted(batch.measurements.items())]
    differing = [(before, now) for before, now in rows if before.answer is not now.answer]
    if options.json:
        print_json(
            build=features.build.as_json(),
            compared=len(rows),
            differing={
                before.name: {"known": before.as_json(), "measured": now.as_json()} for before, now in differing
            },
        )
    else:
        out = console()
        for before, now in differing:
            out.print(f"{before.name}: {before.source.value} says {before.answer.value}, measured now ", end="")
            out.print(styled(now.answer), f": {now.summary}", sep="")
        out.print(f"{len(rows) - len(differing)} of {len(rows)} answers are as known of {features.build.label}.")
    if _failed(batch):
        return PROBING_FAILED
    return FINDING if differing else FINE
