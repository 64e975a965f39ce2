"""Runs rows of results, each command in its own process, and judges the figures.

Rows with the same command share its run. A second call is quick, since runs use the cache.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from irplatform.collections.names import NotBuiltError, aliases_file
from irplatform.errors import InputError, PlatformError
from irplatform.experiment.systems import refuse_large_downloads
from irplatform.files.digests import fingerprint
from irplatform.files.locks import lock
from irplatform.files.writing import home
from irplatform.knowledge import installed
from irplatform.lucene.java import class_archive
from irplatform.registry.loading import registry
from irplatform.spelling import option_words
from irplatform.system.process import keep_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.reproduction.rows import Row


Verdict = Literal["passed", "failed", "cannot_run", "skipped"]
"""`failed`: a figure is outside its tolerance, or the run broke down. `cannot_run`: the row has a
wrong name or value. `skipped`: its data is not on this machine.
"""
_PROCESSES: set[subprocess.Popen[str]] = set()
"""Those that run now."""
_ROUNDING = 1e-9
"""A difference of exactly the tolerance is within it."""


@dataclass(frozen=True)
class Judged:
    """An obtained figure with the expected one; `alone`: of the reranker's own scores.

    `obtained` is None if the run does not report it. `gain` is the expected difference from the
    first stage, with its 95 % interval. `std`, over seeds, is not checked.
    """

    measure: str
    alone: bool
    expected: float
    tolerance: float
    obtained: float | None
    std: float | None = None
    gain: tuple[float, float, float] | None = None
    obtained_gain: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the gain is in its interval, or else the figure within the tolerance."""
        if self.obtained is None:
            return False
        if self.gain:
            _, low, high = self.gain
            return self.obtained_gain is not None and low <= self.obtained_gain <= high
        return abs(self.obtained - self.expected) <= self.tolerance + _ROUNDING

    @property
    def verdict(self) -> str:
        """The verdict, in words."""
        if self.passed:
            return "ok"
        if self.obtained is None or (self.gain and self.obtained_gain is None):
            return "FAILED: not reported"
        if self.gain:
            return "FAILED: the gain is outside the interval"
        difference = self.obtained - self.expected
        return (
            f"FAILED: {abs(difference):.4f} too {'high' if difference > 0 else 'low'}, "
            f"{self.tolerance:g} is allowed"
        )

    def as_json(self) -> dict[str, Any]:
        """Return an entry of `figures`."""
        return {**asdict(self), "verdict": "passed" if self.passed else "failed"}


def judge(row: Row, report: Mapping[str, Any]) -> Sequence[Judged]:
    """Compare the JSON object of `platform run` with what a row expects."""
    entry: Mapping[str, Any] = next((r for r in report["runs"] if r["name"] == row.name), {})
    compared: Mapping[str, Any] = (report.get("comparisons") or {}).get("systems", {})

    def gain(measure: str, alone: bool) -> float | None:
        # Where the first stage has no share, the reranker alone is the final run.
        names = (f"{row.name}-alone", row.name) if alone else (row.name,)
        for name in names:
            if difference := compared.get(name, {}).get(measure):
                return float(difference["difference"])
        return None

    return [
        Judged(
            measure,
            alone,
            expected.value,
            row.tolerance if expected.tolerance is None else expected.tolerance,
            entry.get("measures_alone" if alone else "measures", {}).get(measure),
            expected.std,
            expected.gain,
            gain(measure, alone) if expected.gain else None,
        )
        for measure, alone, expected in row.figures()
    ]


@dataclass(frozen=True)
class Execution:
    """The outcome of a row; `reason` says why there are no figures.

    It is `skipped` without its data, and `refused` with a wrong name or value. `folder` has the run
    files and scores of a run that went well, which may be another row's.
    """

    row: Row
    command: Sequence[str]
    figures: Sequence[Judged] = ()
    reason: str = ""
    skipped: bool = False
    refused: bool = False
    seconds: float = 0.0
    folder: Path | None = None

    @property
    def verdict(self) -> Verdict:
        """Passed only if every figure is within its tolerance."""
        if self.skipped:
            return "skipped"
        if self.refused:
            return "cannot_run"
        good = bool(self.figures) and all(figure.passed for figure in self.figures)
        return "passed" if good else "failed"

    def as_json(self) -> dict[str, Any]:
        """Return an entry in the JSON object of `platform reproduce`."""
        return {
            "id": self.row.id,
            "verdict": self.verdict,
            "reason": self.reason or None,
            "command": ["platform", *self.command],
            "seconds": round(self.seconds, 1),
            "paper": self.row.paper or None,
            "figures": [figure.as_json() for figure in self.figures],
        }


def reproduce(
    rows: Sequence[Row], *, fresh: bool = False, device: str = "cpu", jobs: int = 1
) -> Iterator[Execution]:
    """Run rows, `jobs` at a time, and compare the figures with the expected ones in their order.

    With `fresh`, runs use an empty cache, which is removed at the end.

    Raises:
        InputError: another process is reproducing results with the same cache.
    """
    place = home() / "reproduce"
    with lock(place / "rows") as has_lock:
        if not has_lock:
            raise InputError("another `platform reproduce` is running; wait for it.")
        mark = fingerprint({"rows": [row.id for row in rows]})
        cache = place / f"fresh-{mark}" if fresh else home()
        if fresh:
            keep_nothing()
            shutil.rmtree(cache, ignore_errors=True)
            _copy_aliases(cache)
        runs = _Runs(cache, jobs)
        try:
            prepared = [_prepare(row, _command(row, device), cache) for row in rows]
            for execution in prepared:
                if not execution.reason:
                    runs.start(execution)
            for execution in prepared:
                yield execution if execution.reason else runs.outcome(execution)
        finally:
            runs.stop()
            if fresh:
                shutil.rmtree(cache, ignore_errors=True)


class _Runs:
    """The runs of commands, some at a time; rows with the same command share one."""

    def __init__(self, cache: Path, jobs: int) -> None:
        self._cache = cache
        self._labels = jobs > 1
        self._pool = ThreadPoolExecutor(jobs)
        self._runs: dict[tuple[str, ...], Future[_Run]] = {}
        self._first: dict[tuple[str, ...], str] = {}

    def start(self, execution: Execution) -> None:
        """Start the run of a row as soon as a process is free, unless another row's is the same."""
        command = tuple(execution.command)
        if command not in self._runs:
            self._first[command] = execution.row.id
            self._runs[command] = self._pool.submit(self._run, execution.row, command)

    def _run(self, row: Row, command: tuple[str, ...]) -> _Run:
        folder = home() / "reproduce" / "runs" / row.id
        shutil.rmtree(folder, ignore_errors=True)  # files of an earlier call
        label = {"label": row.id} if self._labels else {}
        started = time.monotonic()
        report = call(command, self._cache, folder, **label)
        return _Run(folder, report, time.monotonic() - started)

    def outcome(self, execution: Execution) -> Execution:
        """Wait for the run of a row, and judge its figures."""
        command = tuple(execution.command)
        run = self._runs[command].result()
        seconds = run.seconds if self._first[command] == execution.row.id else 0.0
        if reason := run.report.get("error"):
            refused = run.report.get("refused", False)
            return replace(execution, reason=reason, refused=refused, seconds=seconds)
        figures = judge(execution.row, run.report)
        return replace(execution, figures=figures, seconds=seconds, folder=run.folder)

    def stop(self) -> None:
        """End what runs, and start nothing more."""
        for future in self._runs.values():
            future.cancel()
        for process in [*_PROCESSES]:
            process.terminate()
        self._pool.shutdown()


@dataclass(frozen=True)
class _Run:
    folder: Path
    report: Mapping[str, Any]
    seconds: float


def _command(row: Row, device: str) -> tuple[str, ...]:
    words = row.command(row.unnamed_measures())
    return (*map(row.fill, words), *option_words("device", device))


def _copy_aliases(cache: Path) -> None:
    """Copy the user's names of collections to a fresh cache."""
    if aliases_file().exists():
        cache.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(aliases_file(), cache / aliases_file().name)


def _prepare(row: Row, command: tuple[str, ...], cache: Path) -> Execution:
    """A row that is to be run, or the reason why it is not."""
    if lacking := row.missing() or _unknown_knowledge(row, fresh=cache != home()):
        return Execution(row, command, reason=lacking, skipped=True)
    try:
        name = row.fill(row.collection)
        collection = registry().collection(name)
        try:
            refuse_large_downloads(collection, name)
        except InputError as error:
            return Execution(row, command, reason=str(error), skipped=True)
    except NotBuiltError as error:
        return Execution(row, command, reason=str(error), skipped=True)
    except PlatformError as error:
        refused = isinstance(error, InputError)
        return Execution(row, command, reason=str(error), refused=refused)
    return Execution(row, command)


def _unknown_knowledge(row: Row, *, fresh: bool) -> str:
    """The knowledge base that a row lacks; a fresh cache has none."""
    installed_bases = {} if fresh else installed()
    for name in (*row.expand, *row.knowledge):
        if name not in installed_bases:
            return f"knowledge base '{name}' is missing; `platform kb add {name} FILE` adds it"
    return ""


def call(command: Sequence[str], cache: Path, run_dir: Path, label: str = "") -> Mapping[str, Any]:
    """Run `platform` in a new process, its messages on our stderr, with a label before each.

    Returns:
        Its JSON; after a failure, `error` with its last message, and `refused` for exit code 2.
    """
    options = [*option_words("run_dir", run_dir), *option_words("json", True)]
    arguments = [sys.executable, "-m", "irplatform", *command, *options]
    passing = {} if cache == home() else {class_archive.VARIABLE: class_archive.lent()}
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as printed,
        subprocess.Popen(
            arguments,
            env={**os.environ, "IRPLATFORM_HOME": str(cache), **passing},
            stdout=printed,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        _PROCESSES.add(process)
        try:
            reason = _relay_messages(process, f"{label}: " if label else "")
        finally:
            _PROCESSES.discard(process)
        if process.returncode:
            error = reason or f"it ended with exit code {process.returncode}"
            refused = process.returncode == InputError.exit_code
            return {"error": error, **({"refused": True} if refused else {})}
        printed.seek(0)
        try:
            report: Mapping[str, Any] = json.load(printed)
        except ValueError:  # arguments that ask for help, say
            return {"error": "it printed no report"}
        return report


def _relay_messages(process: subprocess.Popen[str], start: str) -> str:
    """Show the messages of a process; return the last one."""
    last = ""
    for line in process.stderr or ():
        sys.stderr.write(start + line if line.strip() else line)
        last = line.strip() or last
    process.wait()
    return last.removeprefix("platform: ")
