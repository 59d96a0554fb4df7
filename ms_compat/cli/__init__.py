"""The command ``ms-compat``: arguments in, exit code out.

Exit codes: 0 fine, 1 a finding, 2 usage, 3 probing failed.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from typing import TYPE_CHECKING, NoReturn

from ms_compat.errors import MsCompatError
from ms_compat.settings import DEVICE_TARGETS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["main"]

FINE, FINDING, USAGE, PROBING_FAILED = 0, 1, 2, 3


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON and nothing else")
    common.add_argument(
        "--strict", action="store_true", help="an unknown verdict or drift is a finding too (exit code 1)"
    )
    common.add_argument(
        "--device",
        choices=DEVICE_TARGETS,
        help="the device target to speak of, and to measure on (default: what MindSpore would choose; a card is never "
        "opened unless it is named here or in MS_COMPAT_PROBE_DEVICE)",
    )
    parser = _Parser(
        prog="ms-compat",
        parents=[common],
        description="Ask the installed MindSpore what it really does, and what to do about it.",
        epilog="Exit codes: 0 fine, 1 a finding, 2 usage, 3 probing failed.",
    )
    parser.set_defaults(run="report:doctor")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)

    def command(name: str, run: str, text: str) -> argparse.ArgumentParser:
        # The default must not undo what was given before the command's name.
        added = commands.add_parser(name, help=text, description=text)
        for flag in ("--json", "--strict"):
            added.add_argument(flag, action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        added.add_argument("--device", choices=DEVICE_TARGETS, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        added.set_defaults(run=run)
        return added

    command("doctor", "report:doctor", "build, verdicts, plans, drift, overrides and cache (the default)")
    listing = command("list", "report:list_features", "all features with their verdicts, a line each")
    listing.add_argument("--group", help="only the features of this group")
    show = command("show", "report:show", "everything about some features")
    show.add_argument("names", nargs="*", metavar="NAME")
    show.add_argument("--group", help="also every feature of this group")
    probe = command("probe", "measure:probe", "measure features now, whatever is known about them")
    probe.add_argument("names", nargs="*", metavar="NAME", help="features; all where none is named")
    record = command("record", "measure:record", "probe every feature and write this build's row of recorded verdicts")
    record.add_argument("-o", "--output", metavar="FILE", help="the file for the row; beside the package's by default")
    for measuring in (probe, record):
        measuring.add_argument(
            "--in-process", action="store_true", help="no child process: for a device only one process can open"
        )
    command("matrix", "matrix:matrix", "every feature on every build that was recorded, as a Markdown page")
    comparison = command("compare", "compare:run", "run native and workaround side by side, step by step")
    comparison.add_argument(
        "name", nargs="?", metavar="NAME", help="a feature; without one, lists what can be compared"
    )
    comparison.add_argument("--steps", type=int, default=50, help="training steps of each arm (default: 50)")
    comparison.add_argument("--layers", type=int, default=4, help="blocks of the model (default: 4)")
    comparison.add_argument("--size", type=int, default=64, help="width of a block (default: 64)")
    comparison.add_argument("--plot", metavar="FILE", help="draw both series into a .png or .svg file (matplotlib)")
    command("verify", "measure:verify", "probe every feature again and fail where an answer differs from the known one")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    module, _, function = options.run.partition(":")
    warnings.showwarning = _one_line
    # A terminal that cannot show a character shows its number: a report is never lost for that.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if options.device is not None:
        os.environ["MS_COMPAT_PROBE_DEVICE"] = options.device
    try:
        code = _run(module, function)(options)
        sys.stdout.flush()  # here, where a reader that has gone is no error
        return code
    except MsCompatError as error:
        print(f"ms-compat: {error}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:
        # The reader has seen enough; Python must not complain about it when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except KeyboardInterrupt:
        print("ms-compat: interrupted", file=sys.stderr)
        return 130


def _run(module: str, function: str) -> Callable[[argparse.Namespace], int]:
    import importlib

    run: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(f"ms_compat.cli.{module}"), function)
    return run


def _one_line(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    print(f"ms-compat: {category.__name__}: {message}", file=sys.stderr)
