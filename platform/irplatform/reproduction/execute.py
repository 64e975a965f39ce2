"""Running rows: each command in a process of its own, finished ones kept in a journal.

A process for each command is what a user would call; it frees its memory, and one that fails stops
no other. Rows with the same command share its run. The journal lies in the cache and goes when all
rows are done, so that a second call starts over, with whatever the cache has.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform import __version__
from irplatform.collections.aliases import aliases_file
from irplatform.errors import InputError, PlatformError
from irplatform.journal import append_journal, read_journal
from irplatform.knowledge import installed
from irplatform.pipeline import refuse_silent_downloads
from irplatform.registry import registry
from irplatform.reproduction.verdicts import Judged, Verdict, judge
from irplatform.storage import fingerprint, home

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.reproduction.rows import Row

_FAILURES = ("platform: ", "Usage: ")
"""How what a command fails with begins: our message, or click's of wrong arguments."""


@dataclass(frozen=True)
class Execution:
    """What became of a row.

    Attributes:
        row: the row.
        command: the arguments of `platform`, placeholders filled in.
        figures: the figures that were obtained, beside the expected ones.
        reason: why there are none.
        skipped: whether that is because this machine has not what the row needs.
        refused: whether that is because the run refuses what the row says: a wrong name or value.
        seconds: what the command took; 0 where its result was there.
    """

    row: Row
    command: Sequence[str]
    figures: Sequence[Judged] = ()
    reason: str = ""
    skipped: bool = False
    refused: bool = False
    seconds: float = 0.0

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
        """An entry of `platform reproduce --json`."""
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
    rows: Sequence[Row], *, fresh: bool = False, resume: bool = True, device: str = "cpu"
) -> Iterator[Execution]:
    """Run rows, and compare what they give with what is expected.

    Args:
        rows: the rows.
        fresh: in an empty cache of their own, which is removed at the end.
        resume: take what an interrupted call finished.
        device: where to compute.

    Yields:
        What became of each row, in their order.

    Raises:
        InputError: another process is reproducing results with the same cache.
    """
    place = home() / "reproduce"
    commands = [_command(row, device) for row in rows]
    with _alone(place):
        journal = _Journal(
            place / f"{_mark(rows, commands, fresh)}.jsonl", resume=resume, runs=place / "runs"
        )
        cache = place / "fresh" if fresh else home()
        if fresh and not journal.done:
            shutil.rmtree(cache, ignore_errors=True)
            _lend_names(cache)
        for row, command in zip(rows, commands, strict=True):
            yield _execute(row, command, cache, journal)
        journal.remove()
        if fresh:
            shutil.rmtree(cache, ignore_errors=True)


def _lend_names(cache: Path) -> None:
    """Let a fresh cache know the names that the user gave to collections."""
    if aliases_file().exists():
        cache.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(aliases_file(), cache / aliases_file().name)


def _command(row: Row, device: str) -> list[str]:
    words = row.command(row.unnamed_measures())
    return [*(row.fill(word) for word in words), "--device", device]


def _mark(rows: Sequence[Row], commands: Sequence[Sequence[str]], fresh: bool) -> str:
    """What finished rows are kept for: the same commands, by the same code."""
    plugins = registry()
    found = [plugins.retrievers.get(name) for row in rows for name in row.retrievers]
    reranking = [plugins.rerankers.get(row.reranker or "") for row in rows]
    code = [held.made_by for held in (*found, *reranking) if held is not None]
    return fingerprint(
        {"irplatform": __version__, "commands": commands, "fresh": fresh, "code": code}
    )


def _execute(row: Row, command: Sequence[str], cache: Path, journal: _Journal) -> Execution:
    if lacking := row.missing() or _unknown_knowledge(row, fresh=cache != home()):
        return Execution(row, command, reason=lacking, skipped=True)
    try:
        name = row.fill(row.collection)
        collection = registry().collection(name)
    except PlatformError as error:
        refused = isinstance(error, InputError)
        return Execution(row, command, reason=str(error), refused=refused)
    try:
        refuse_silent_downloads(collection, name)
    except InputError as error:
        return Execution(row, command, reason=str(error), skipped=True)
    started = time.monotonic()
    report = journal.report(command)
    if report is None:
        run_dir = journal.runs / row.id
        shutil.rmtree(run_dir, ignore_errors=True)  # an earlier call's files are not this run's
        report = call(command, cache, run_dir)
        journal.add(command, report)
    seconds = time.monotonic() - started
    if "error" in report:
        refused = report.get("refused", False)
        return Execution(row, command, reason=report["error"], refused=refused, seconds=seconds)
    return Execution(row, command, judge(row, report), seconds=seconds)


def _unknown_knowledge(row: Row, *, fresh: bool) -> str:
    """Which knowledge base a row lacks, in a few words; a fresh cache has none."""
    held = {} if fresh else installed()
    for name in (*row.expand, *row.knowledge):
        if name not in held:
            return f"knowledge base '{name}' is not there; `platform kb add {name} FILE` adds it"
    return ""


def call(command: Sequence[str], cache: Path, run_dir: Path) -> Mapping[str, Any]:
    """Run `platform` in a process of its own, its messages on our stderr.

    Args:
        command: its arguments.
        cache: its cache.
        run_dir: where its runs go.

    Returns:
        What it printed; or, where it failed, `error` with its last message, and `refused` where
        it could not do what the arguments say.
    """
    arguments = [sys.executable, "-m", "irplatform", *command, "--run-dir", str(run_dir), "--json"]
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as printed,
        subprocess.Popen(
            arguments,
            env={**os.environ, "IRPLATFORM_HOME": str(cache)},
            stdout=printed,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        try:
            reason = _passed_on(process)
        except BaseException:
            process.terminate()
            raise
        if process.returncode:
            error = reason or f"it ended with exit code {process.returncode}"
            refused = process.returncode == InputError.exit_code
            return {"error": error, **({"refused": True} if refused else {})}
        printed.seek(0)
        report: Mapping[str, Any] = json.load(printed)
        return report


def _passed_on(process: subprocess.Popen[str]) -> str:
    """Hand a process's messages to ours, but for the one that it fails with.

    Returns:
        Why it failed, for the verdict; where it gave no reason, the last line.
    """
    last, held = "", list[str]()
    for line in process.stderr or ():
        if held or line.startswith(_FAILURES):
            held.append(line)
            continue
        sys.stderr.write(line)
        last = line.strip() or last
    if process.wait() and held:
        return _in_a_line(held)
    sys.stderr.writelines(held)
    return last


def _in_a_line(message: Sequence[str]) -> str:
    """The message of a failure without what stands around it: our name, or how to call us."""
    text = " ".join(line.strip() for line in message if line.strip())
    ours, usage = _FAILURES
    if text.startswith(usage):
        return text.partition(" Error: ")[2] or text
    return text.removeprefix(ours)


class _Journal:
    """What commands printed, in a file, for a call that goes on after an interruption.

    Attributes:
        runs: the folder for their run files.
    """

    def __init__(self, path: Path, *, resume: bool, runs: Path) -> None:
        self.runs = runs
        self._path = path
        if not resume:
            path.unlink(missing_ok=True)
        self.done: dict[str, Mapping[str, Any]] = dict(
            read_journal(path, lambda line: (line["command"], line["report"]))
        )

    def report(self, command: Sequence[str]) -> Mapping[str, Any] | None:
        """What a command printed, if it is done."""
        return self.done.get(json.dumps(command))

    def add(self, command: Sequence[str], report: Mapping[str, Any]) -> None:
        """Keep what a command printed; one that failed is kept for this call only."""
        self.done[json.dumps(command)] = report
        if "error" not in report:
            append_journal(self._path, [{"command": json.dumps(command), "report": report}])

    def remove(self) -> None:
        """Forget: all is done."""
        self._path.unlink(missing_ok=True)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Keep a second call away from the same folder."""
    from filelock import FileLock, Timeout

    place.mkdir(parents=True, exist_ok=True)
    lock = FileLock(place / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise InputError("another `platform reproduce` is at work; wait for it.") from error
    try:
        yield
    finally:
        lock.release()
