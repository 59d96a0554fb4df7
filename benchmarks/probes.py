"""How long each probe takes, and whether a verdict ever flips: the whole catalog many times over, on a busy machine.

    python benchmarks/probes.py measure --runs 20 --busy 2 PYTHON... >> probes.jsonl
    python benchmarks/probes.py render probes.jsonl > docs/probe-quality.md

PYTHON is the interpreter of an environment with a MindSpore; several are measured in turn. Each run is a new child that
probes everything, so a line of the result is one run.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import multiprocessing
import os
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
#: A probe that takes longer is to be reworked or explained.
LIMIT = 3.0


def spin() -> None:
    """Keep one core busy."""
    while True:
        sum(range(100_000))


@contextlib.contextmanager
def load(processes: int) -> Iterator[None]:
    """So many processes compete for the machine inside the block."""
    spinning = [multiprocessing.Process(target=spin, daemon=True) for _ in range(processes)]
    for process in spinning:
        process.start()
    try:
        yield
    finally:
        for process in spinning:
            process.kill()


def measure(options: argparse.Namespace) -> None:
    """Print one line of JSON for each run."""
    with load(options.busy):
        for python in options.pythons:
            for _ in range(options.runs):
                with tempfile.TemporaryDirectory() as folder:
                    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MS_COMPAT_CACHE_DIR": folder}
                    done = subprocess.run(
                        [python, "-m", "ms_compat", "probe", "--json"],
                        cwd=folder, env=environment, capture_output=True, text=True, check=False,
                    )  # fmt: skip
                printed = json.loads(done.stdout)
                run = {
                    "build": f"{printed['build']['version']} {printed['build']['device_target']}",
                    "busy": options.busy,
                    "children": printed["children"],
                    "import_seconds": printed["import_seconds"],
                    "seconds": printed["seconds"],
                    "verdicts": {name: row["verdict"] for name, row in printed["features"].items()},
                }
                print(json.dumps(run), flush=True)


def render(options: argparse.Namespace) -> None:
    """Print the page."""
    runs: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for line in Path(options.file).read_text().splitlines():
        run = json.loads(line)
        runs[run["build"]].append(run)
    builds = sorted(runs, key=lambda build: [int(part) for part in build.split()[0].split(".")])
    names = sorted({name for taken in runs.values() for run in taken for name in run["verdicts"]})
    said = {(name, build): {run["verdicts"][name] for run in runs[build]} for name in names for build in builds}
    flipped = {where: sorted(answers) for where, answers in said.items() if len(answers) > 1}
    busy = sorted({run["busy"] for taken in runs.values() for run in taken})
    print("# Probe quality\n")
    fewest = min(len(taken) for taken in runs.values())
    print(
        f"Every probe at least {fewest} times on each release, while at least {min(busy)} other process kept one of "
        f"{os.cpu_count()} cores busy; written by `benchmarks/probes.py`. Times are seconds in the child, after "
        "MindSpore was imported. A probe that needs an interpreter of its own imports MindSpore again, which is nearly "
        "all of its time.\n"
    )
    print("| release | runs | verdicts that flipped | whole catalog (median) | slowest probe |")
    print("|---|---|---|---|---|")
    for build in builds:
        taken = runs[build]
        slowest = max(taken[0]["seconds"], key=lambda name: median(taken, name))
        total = statistics.median(sum(run["seconds"].values()) for run in taken)
        flips = sum(where == build for _, where in flipped)
        print(f"| {build} | {len(taken)} | {flips} | {total:.1f} s | `{slowest}`, {median(taken, slowest):.2f} s |")
    for (name, build), answers in flipped.items():
        print(f"\n**`{name}` flipped on {build}: {', '.join(answers)}**")
    print(f"\n| probe | {' | '.join(builds)} |\n|---|{'---|' * len(builds)}")
    for name in names:
        cells = [f"{median(runs[build], name):.2f} ({most(runs[build], name):.2f})" for build in builds]
        print(f"| `{name}` | {' | '.join(cells)} |")
    print(f"\nMedian, and in brackets the slowest run. The limit is {LIMIT:g} s for the median.")


def median(taken: list[dict[str, Any]], name: str) -> float:
    """The median time of a probe in seconds."""
    return float(statistics.median(run["seconds"].get(name, 0.0) for run in taken))


def most(taken: list[dict[str, Any]], name: str) -> float:
    """The longest time of a probe in seconds."""
    return float(max(run["seconds"].get(name, 0.0) for run in taken))


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("pythons", nargs="+", metavar="PYTHON")
    measuring.add_argument("--runs", type=int, default=20)
    measuring.add_argument("--busy", type=int, default=2, help="processes that compete for the machine")
    measuring.set_defaults(run=measure)
    rendering = commands.add_parser("render")
    rendering.add_argument("file")
    rendering.set_defaults(run=render)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
