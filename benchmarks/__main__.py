"""Run the benchmarks and print a table: `python -m benchmarks [NAME…]`, all without a name.

Each is a program of its own in this folder that prints one JSON object on its last line; it is kept
in `results/NAME.json`. They run one after the other, since they would disturb each other.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from irplatform.errors import unknown
from irplatform.system.writing import atomic_write

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results"
FIELDS = {"benchmark", "ours", "peer", "unit", "ratio", "detail"}


def programs() -> dict[str, Path]:
    """The benchmarks by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.py")) if path.stem[0] != "_"}


def run(program: Path) -> dict[str, Any]:
    """Run one; its messages go to the terminal.

    Raises:
        RuntimeError: it failed, or its last line is not the object that it should print.
    """
    process = subprocess.run(
        [sys.executable, program], stdout=subprocess.PIPE, text=True, check=False
    )
    if process.returncode:
        raise RuntimeError(f"ended with exit code {process.returncode}")
    last = process.stdout.rstrip().rpartition("\n")[2]
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
    where = {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    with atomic_write(RESULTS / f"{name}.json") as file:
        json.dump({**result, **where}, file, indent=1)
        file.write("\n")


def show(results: dict[str, dict[str, Any]]) -> None:
    """Print the table."""
    table = Table("benchmark", title="A ratio above 1: ours is better", title_style="")
    for heading in ("ours", "peer"):
        table.add_column(heading, justify="right")
    table.add_column("unit")
    table.add_column("ratio", justify="right")
    for name, result in results.items():
        numbers = [f"{result[side]:,.4g}" for side in ("ours", "peer")]
        table.add_row(name, *numbers, result["unit"], f"{result['ratio']:.2f}")
    Console().print(table)


def main() -> int:
    """Returns 0 when all ran, 1 when one failed, 2 when a name is not a benchmark's."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="which; all without a name")
    paths = programs()
    names = parser.parse_args().names or list(paths)
    for name in names:
        if name not in paths:
            print(unknown("benchmark", name, paths), file=sys.stderr)
            return 2
    results, failures = {}, 0
    for name in names:
        print(f"== {name}", file=sys.stderr)
        try:
            results[name] = run(paths[name])
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failures += 1
        else:
            keep(name, results[name])
    if results:
        show(results)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
