"""What asking costs, as ratios to importing MindSpore in the same run.

Run in an environment with MindSpore: ``python benchmarks/lookup.py``.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
import timeit

ROUNDS = 7
ASK = "from ms_compat import features; features.recompute_releases_tensors"
STORM = 8


def seconds(*arguments: str, **environment: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env={**os.environ, **environment})
    return time.perf_counter() - began


def lookup_against_import() -> None:
    seconds("-c", "import mindspore"), seconds("-c", ASK)  # both from a warm disk, compiled
    # Interleaved, so that a slow moment of the machine meets both.
    rounds = [(seconds("-c", "import mindspore"), seconds("-c", ASK), seconds("-c", "")) for _ in range(ROUNDS)]
    imported, asked, empty = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"import mindspore          {imported:8.3f} s")
    print(f"one look-up, whole process{asked:8.3f} s = 1/{imported / asked:.0f} (an empty process takes {empty:.3f} s)")


def second_lookup() -> None:
    from ms_compat import features

    features.recompute_releases_tensors  # noqa: B018 - the first look-up
    loops = 1_000_000
    best = min(timeit.repeat(lambda: features.recompute_releases_tensors, number=loops, repeat=5)) / loops
    empty = min(timeit.repeat(lambda: features, number=loops, repeat=5)) / loops
    print(f"second look-up            {(best - empty) * 1e9:8.0f} ns")


def probing_against_import() -> None:
    import json

    rounds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as cache:
            bare = seconds("-c", "import mindspore")
            began = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-m", "ms_compat", "probe", "--json"],
                env={**os.environ, "MS_COMPAT_CACHE_DIR": os.path.join(cache, "cache")},
                capture_output=True,
                check=True,
            )
            whole = time.perf_counter() - began
            steps = sum(json.loads(done.stdout)["seconds"].values())
            rounds.append((bare, whole, steps))
    bare, whole, steps = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"probing the whole catalog {whole:8.3f} s, of which steps of probes {steps:.3f} s")
    started = whole - steps
    print(f"without the steps         {started:8.3f} s = {started / bare:.2f} x a bare import ({bare:.3f} s)")


def storm() -> None:
    """Processes that ask for an unrecorded build at the same moment: how many of them import MindSpore in a child."""
    program = (
        "import os, sys, time; from ms_compat import Features; from ms_compat.recorded import Recorded;"
        "from ms_compat.probing import runner; real = runner.run_in_child;"
        "time.sleep(max(0, float(sys.argv[1]) - time.time()));"
        "runner.run_in_child = lambda jobs, build: (print('child'), real(jobs, build))[1];"
        "print(Features(recorded=Recorded(os.devnull + '-missing')).recompute_releases_tensors.source.value)"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "MS_COMPAT_CACHE_DIR": os.path.join(cache, "cache")}
        began = time.time() + 1.0
        command = [sys.executable, "-W", "ignore", "-c", program, str(began)]
        ranks = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(STORM)]
        outputs = [rank.communicate()[0].split() for rank in ranks]
        children = sum(output.count("child") for output in outputs)
        print(f"{STORM} processes at once       {children} child, {time.time() - began:.1f} s; answers {outputs}")


if __name__ == "__main__":
    lookup_against_import()
    second_lookup()
    probing_against_import()
    storm()
