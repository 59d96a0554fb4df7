"""The command ``compare``: native and workaround side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ms_compat.cli import FINDING, FINE
from ms_compat.cli.output import console, print_json, table
from ms_compat.comparison import CompareError, comparable, compare

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ms_compat.comparison import Arm, Comparison

__all__ = ["run"]

_SHOWN_STEPS = 10


def run(options: argparse.Namespace) -> int:
    """Run both arms, show them, and say whether the workaround holds."""
    if options.name is None:
        if options.json:
            print_json(comparable=list(comparable()))
        else:
            console().print("\n".join(comparable()))
        return FINE
    result = compare(options.name, steps=options.steps, layers=options.layers, size=options.size)
    if options.plot:
        plot(result, options.plot)
    if options.json:
        print_json(**result.as_json())
    else:
        _print(result, options)
        if options.plot:
            console().print(f"picture written to {options.plot}")
    return FINE if holds(result) else FINDING


def holds(result: Comparison) -> bool:
    """Whether the workaround ran to its end and no Tensor piled up."""
    return result.workaround.error is None and result.workaround.tensors_per_step < 0.05


def _print(result: Comparison, options: argparse.Namespace) -> None:
    out = console()
    out.print(f"{result.feature} on {result.build}", style="bold")
    out.print(
        f"{options.steps} steps, {options.layers} layers of size {options.size}, each arm in a process of its own\n"
    )
    rows = table("step", "Tensors native", "workaround", "host MiB native", "workaround")
    last = options.steps - 1
    for step in sorted({round(number * last / _SHOWN_STEPS) for number in range(_SHOWN_STEPS + 1)}):
        arms = (result.native, result.workaround)
        counts = [_cell(arm.tensors, step) for arm in arms]
        memory = [_cell([used / 2**20 for used in arm.host_bytes], step) for arm in arms]
        rows.add_row(str(step + 1), *counts, *memory)
    out.print(rows)
    for name, arm in (("native", result.native), ("workaround", result.workaround)):
        out.print(f"\n{name}: {_conclusion(arm)}", style="bold" if arm.error is None else "bold red")
    agree = {True: "the same to the bit", False: "different", None: "not to be compared"}[result.gradients_agree]
    ratio = "unknown" if result.time_ratio is None else f"{result.time_ratio:.2f} x the native one's"
    out.print(f"\nGradients are {agree}; the workaround's step time is {ratio}.")


def _cell(series: Sequence[float], step: int) -> str:
    if step >= len(series):
        return "-"
    return str(series[step]) if isinstance(series[step], int) else f"{series[step]:.2f}"


def _conclusion(arm: Arm) -> str:
    grown = f"{arm.tensors_per_step:+.2f} Tensors"
    if arm.bytes_per_step is not None:
        grown += f", {arm.bytes_per_step:+.0f} bytes"
    told = f"{grown} per step over the second half of {len(arm.tensors)} steps"
    return told if arm.error is None else f"stopped after {len(arm.tensors)} steps with {arm.error}"


def plot(result: Comparison, path: str) -> None:
    """Draw both series into a PNG or SVG file.

    Raises:
        CompareError: matplotlib is not installed, or the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise CompareError("--plot needs matplotlib: pip install 'ms-compat[plot]'") from None
    figure = Figure(figsize=(9, 6.5), layout="constrained")
    counts, memory = figure.subplots(2, 1, sharex=True)
    for name, arm, style in (("native", result.native, "C3-"), ("workaround", result.workaround, "C0-")):
        steps = range(1, len(arm.tensors) + 1)
        label = f"{name} ({_conclusion(arm)})" if arm.error is None else f"{name} ({arm.error[:60]})"
        counts.plot(steps, arm.tensors, style, label=label)
        if arm.host_bytes:
            memory.plot(steps, [used / 2**20 for used in arm.host_bytes], style)
    counts.set_title(f"{result.feature}\n{result.build}")
    counts.set_ylabel("live Tensors")
    counts.legend(loc="upper left", fontsize="small")
    memory.set_ylabel("host memory in use (MiB)")
    memory.set_xlabel("step")
    for axes in (counts, memory):
        axes.grid(alpha=0.3)
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise CompareError(f"the picture cannot be written to {path}: {error}") from error
