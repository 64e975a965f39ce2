"""Run the benchmarks and print a table: `python -m benchmarks [NAME…]`, all without a name.

Each is a program of its own in this folder that prints one JSON object on its last line; it is kept
in `results/NAME.json`. They run one after the other, since they would disturb each other. One that
lacks its data or a program on this machine is left out, and said to be. `--tiny` runs all on a
little generated data, to see whether they work; nothing is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from benchmarks._common import LEFT_OUT
from benchmarks._tiny import ARGUMENTS as TINY
from benchmarks._tiny import write_data
from irplatform.errors import unknown
from irplatform.files.writing import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results"
FIELDS = {"benchmark", "ours", "peer", "unit", "ratio", "detail"}


def programs() -> dict[str, Path]:
    """The benchmarks by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.py")) if path.stem[0] != "_"}


class LeftOutError(Exception):
    """This machine lacks what a benchmark needs; the message says what."""


def run(program: Path, arguments: Sequence[str] = ()) -> dict[str, Any]:
    """Run one; its messages go to the terminal.

    Raises:
        LeftOutError: the machine lacks what it needs.
        RuntimeError: it failed, or its last line is not the object that it should print.
    """
    process = subprocess.run(
        [sys.executable, program, *arguments], stdout=subprocess.PIPE, text=True, check=False
    )
    last = process.stdout.rstrip().rpartition("\n")[2]
    if process.returncode == LEFT_OUT:
        raise LeftOutError(last)
    if process.returncode:
        raise RuntimeError(f"ended with exit code {process.returncode}")
    try:
        result = json.loads(last)
    except ValueError as error:
        raise RuntimeError(f"its last line is not JSON: {last[:80]!r}") from error
    if not isinstance(result, dict) or not result.keys() >= FIELDS:
        raise RuntimeError(f"its last line must have the keys {', '.join(sorted(FIELDS))}")
    return result


def keep(name: str, result: dict[str, Any]) -> None:
    """Write a result, with when and where it was measured, to `results/`."""
    RESULTS.mkdir(exist_ok=True)
    environment = {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    with atomic_write(RESULTS / f"{name}.json") as file:
        json.dump({**result, **environment}, file, indent=1)
        file.write("\n")


def show(results: dict[str, dict[str, Any]], left_out: dict[str, str]) -> None:
    """Print the table, and below it what was left out and why."""
    table = Table("benchmark", title="A ratio above 1: ours is better", title_style="")
    for heading in ("ours", "peer"):
        table.add_column(heading, justify="right")
    table.add_column("unit")
    table.add_column("ratio", justify="right")
    for name, result in results.items():
        numbers = [_number(result[side], ",.4g") for side in ("ours", "peer")]
        table.add_row(name, *numbers, result["unit"], _number(result["ratio"], ".2f"))
    console = Console()
    if results:
        console.print(table)
    for name, reason in left_out.items():
        console.print(f"left out: {name}: {reason}", highlight=False, markup=False)
    if alone := [name for name, result in results.items() if result["peer"] is None]:
        console.print(f"without a peer on this machine: {', '.join(alone)}", highlight=False)


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


@contextmanager
def _tiny_data() -> Iterator[None]:
    """Generated data and an empty cache, for the programs that are started."""
    with tempfile.TemporaryDirectory() as folder:
        data, home = Path(folder) / "data", Path(folder) / "home"
        write_data(data, home)
        os.environ["IRPLATFORM_TEST_DATA"], os.environ["IRPLATFORM_HOME"] = str(data), str(home)
        yield


def main() -> int:
    """Returns 0 when none failed, 1 when one did, 2 when a name is not a benchmark's."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="which; all without a name")
    parser.add_argument("--tiny", action="store_true", help="only see whether they work")
    arguments = parser.parse_args()
    paths = programs()
    names = arguments.names or list(paths)
    for name in names:
        if name not in paths:
            print(unknown("benchmark", name, paths), file=sys.stderr)
            return 2
    results: dict[str, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    failures = 0
    with _tiny_data() if arguments.tiny else nullcontext():
        for name in names:
            print(f"== {name}", file=sys.stderr)
            try:
                results[name] = run(paths[name], TINY[name] if arguments.tiny else ())
            except LeftOutError as reason:
                left_out[name] = str(reason)
            except RuntimeError as error:
                print(f"{name}: {error}", file=sys.stderr)
                failures += 1
            else:
                if not arguments.tiny:
                    keep(name, results[name])
    show(results, left_out)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
