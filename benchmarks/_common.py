"""Shared parts of the benchmarks: the data folder, measuring in turns, memory, the line of JSON."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NoReturn

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LEFT_OUT = 75
"""Exit code of a benchmark whose data or programs are not on this machine."""
Figures = dict[str, float]
"""Wall clock and processor in seconds, and peak memory in MB, of a command."""
_DEFAULT_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def parser(description: str) -> argparse.ArgumentParser:
    """Return a command line with `--data` and `--rounds`."""
    command_line = argparse.ArgumentParser(description=description)
    command_line.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("IRPLATFORM_TEST_DATA", _DEFAULT_DATA)),
        help="folder of the real collections (default: $IRPLATFORM_TEST_DATA, else %(default)s)",
    )
    command_line.add_argument("--rounds", type=int, default=3, help="measurements of each side")
    return command_line


def require(path: Path) -> Path:
    """Return a path of the data folder; leave the benchmark out if it is missing."""
    if not path.exists():
        leave_out(f"{path} is missing: set IRPLATFORM_TEST_DATA or --data.")
    return path


def runs(program: str) -> bool:
    """Whether a few lines of Python run to their end here, in a process of their own."""
    environment = {**os.environ, "OPENAI_API_KEY": "none"}  # Pyserini's encoders want one
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment, check=False
    )
    return process.returncode == 0


def alternate(
    sides: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Measure the seconds of each side in turns, after a turn to warm up unless there is one."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(0 if rounds > 1 else 1, rounds + 1):
        for name, run in sides.items():
            started = clock()
            run()
            elapsed = clock() - started
            print(f"{name}: {elapsed:.2f} s{'' if turn else ' (warm-up)'}", file=sys.stderr)
            if turn:
                seconds[name].append(elapsed)
    return seconds


def measure(
    command: Sequence[str], environment: Mapping[str, str] | None = None, *, quiet: bool = False
) -> tuple[Figures, str]:
    """Run a command in a process of its own: its figures, children included, and its output.

    With `quiet`, its messages are shown only if it fails.
    """
    environment = os.environ if environment is None else environment
    environment = {n: v for n, v in environment.items() if n != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+", errors="replace") as messages:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=messages if quiet else None,
            text=True,
            env=environment,
        )
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        if status:
            messages.seek(0)
            sys.exit(f"{messages.read()[-4000:]}{' '.join(command)} failed")
    memory = usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return {"wall": wall, "processor": usage.ru_utime + usage.ru_stime, "MB": memory}, output


def private_memory(process: psutil.Process) -> int:
    """Return the bytes of a process and its children that are not pages of files."""
    total = 0
    try:
        for member in (process, *process.children(recursive=True)):
            memory = member.memory_info()
            total += memory.rss - getattr(memory, "shared", 0)
    except psutil.Error:  # it has just ended
        return total
    return total


def leave_out(reason: str) -> NoReturn:
    """End the benchmark: this machine lacks what it needs. The reason is its last line."""
    print(reason)
    sys.exit(LEFT_OUT)


def report(
    benchmark: str,
    figure: float,
    peer: float | None,
    unit: str,
    *,
    higher_is_better: bool,
    **detail: Any,
) -> None:
    """Print the result as one JSON object; a ratio above 1 means that ours is better.

    Without a peer on this machine, `peer` and `ratio` are null. Figures have five digits, however
    small they are.
    """
    ratio = None
    if peer is not None:
        ratio = _five_digits(figure / peer if higher_is_better else peer / figure)
    print(
        json.dumps(
            {
                "benchmark": benchmark,
                "ours": _five_digits(figure),
                "peer": None if peer is None else _five_digits(peer),
                "unit": unit,
                "ratio": ratio,
                "detail": detail,
            }
        )
    )


def _five_digits(value: float) -> float:
    return float(f"{value:.5g}")


def rate(count: int, seconds: list[float]) -> float:
    """Return the count per second, by the median of the measurements."""
    return count / median(seconds)
