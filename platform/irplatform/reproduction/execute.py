"""Running rows of results, each command in a process of its own, as a user would call it.

Rows with the same command share its run. Finished commands are kept in a journal in the cache,
which is removed when all rows are done, so that a second call starts over.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform import __version__
from irplatform.collections.names import aliases_file
from irplatform.errors import InputError, PlatformError
from irplatform.experiment.systems import refuse_silent_downloads
from irplatform.knowledge import installed
from irplatform.registry.code_digests import source_digest
from irplatform.registry.entry_points import entry_points
from irplatform.registry.loading import registry
from irplatform.reproduction.verdicts import Judged, Verdict, inputs_mark, judge
from irplatform.system.cache import lock
from irplatform.system.digests import fingerprint
from irplatform.system.formats import append_journal, read_journal
from irplatform.system.writing import home

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.reproduction.rows import Row


_FAILURES = ("platform: ", "Usage: ")
"""Beginnings of the message that a command fails with: ours, or click's."""


@dataclass(frozen=True)
class Execution:
    """The outcome of a row.

    Attributes:
        row: the row.
        command: the arguments of `platform`, placeholders filled in.
        figures: the obtained figures with the expected ones.
        reason: why there are none.
        skipped: this machine lacks what the row needs.
        refused: the run refuses what the row says: a wrong name or value.
        seconds: duration of the command; 0 if its result was there.
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
        """Return an entry of `platform reproduce --json`."""
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
    """Run rows in their order, and compare the figures with the expected ones.

    Args:
        rows: the rows.
        fresh: use an empty cache, which is removed at the end.
        resume: take what an interrupted call finished.
        device: the device for models.

    Raises:
        InputError: another process is reproducing results with the same cache.
    """
    place = home() / "reproduce"
    commands = [_command(row, device) for row in rows]
    with lock(place / "rows") as ours:
        if not ours:
            raise InputError("another `platform reproduce` is running; wait for it.")
        mark = _mark(commands, fresh)
        finished = _Finished(place / f"rows-{mark}.jsonl", resume)
        cache = place / f"fresh-{mark}" if fresh else home()
        if fresh and not finished.reports:
            shutil.rmtree(cache, ignore_errors=True)
        if fresh:
            _lend_names(cache)
        for row, command in zip(rows, commands, strict=True):
            yield _execute(row, command, cache, finished)
        finished.path.unlink(missing_ok=True)
        if fresh:
            shutil.rmtree(cache, ignore_errors=True)


class _Finished:
    """The output of finished commands, by their words and data, for a call that resumes."""

    def __init__(self, path: Path, resume: bool) -> None:
        self.path = path
        if not resume:
            path.unlink(missing_ok=True)
        self.reports: dict[str, Mapping[str, Any]] = dict(
            read_journal(path, lambda line: (line["command"], line["report"]))
        )

    def add(self, command: str, report: Mapping[str, Any]) -> None:
        """Keep the output of a command; only for this call if it failed."""
        self.reports[command] = report
        if "error" not in report:
            append_journal(self.path, [{"command": command, "report": report}])


def _lend_names(cache: Path) -> None:
    """Copy the names that the user gave to collections to a fresh cache."""
    if aliases_file().exists():
        cache.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(aliases_file(), cache / aliases_file().name)


def _command(row: Row, device: str) -> list[str]:
    words = row.command(row.unnamed_measures())
    return [*(row.fill(word) for word in words), "--device", device]


def _mark(commands: Sequence[Sequence[str]], fresh: bool) -> str:
    """The key of finished rows: the same commands, by the same code of all plugins."""
    code = source_digest(*(entry_point.module for entry_point in entry_points()))
    return fingerprint(
        {"irplatform": __version__, "commands": commands, "fresh": fresh, "code": code}
    )


def _execute(row: Row, command: Sequence[str], cache: Path, finished: _Finished) -> Execution:
    if lacking := row.missing() or _unknown_knowledge(row, fresh=cache != home()):
        return Execution(row, command, reason=lacking, skipped=True)
    try:
        name = row.fill(row.collection)
        collection = registry().collection(name)
        try:
            refuse_silent_downloads(collection, name)
        except InputError as error:
            return Execution(row, command, reason=str(error), skipped=True)
        key = json.dumps([*command, inputs_mark(collection, command)])
    except PlatformError as error:
        refused = isinstance(error, InputError)
        return Execution(row, command, reason=str(error), refused=refused)
    started = time.monotonic()
    if key not in finished.reports:
        run_dir = finished.path.parent / "runs" / row.id
        shutil.rmtree(run_dir, ignore_errors=True)  # an earlier call's files are not this run's
        finished.add(key, call(command, cache, run_dir))
    seconds = time.monotonic() - started
    report = finished.reports[key]
    if "error" in report:
        refused = report.get("refused", False)
        return Execution(row, command, reason=report["error"], refused=refused, seconds=seconds)
    return Execution(row, command, judge(row, report), seconds=seconds)


def _unknown_knowledge(row: Row, *, fresh: bool) -> str:
    """The knowledge base that a row lacks, in a few words; a fresh cache has none."""
    installed_bases = {} if fresh else installed()
    for name in (*row.expand, *row.knowledge):
        if name not in installed_bases:
            return f"knowledge base '{name}' is not there; `platform kb add {name} FILE` adds it"
    return ""


def call(command: Sequence[str], cache: Path, run_dir: Path) -> Mapping[str, Any]:
    """Run `platform` in a process of its own, its messages on our stderr.

    Returns:
        What it printed; or, if it failed, `error` with its last message, and `refused` if the
        arguments were wrong.
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
        try:
            report: Mapping[str, Any] = json.load(printed)
        except ValueError:  # arguments such as --help
            return {"error": "it printed no report"}
        return report


def _passed_on(process: subprocess.Popen[str]) -> str:
    """Hand a process's messages to ours; return the one that it fails with, or the last line."""
    last, message_lines = "", list[str]()
    for line in process.stderr or ():
        if message_lines or line.startswith(_FAILURES):
            message_lines.append(line)
            continue
        sys.stderr.write(line)
        last = line.strip() or last
    if not process.wait() or not message_lines:
        sys.stderr.writelines(message_lines)
        return last
    # Without what stands around it: our name, or how to call us.
    text = " ".join(line.strip() for line in message_lines if line.strip())
    ours, usage = _FAILURES
    if text.startswith(usage):
        return text.partition(" Error: ")[2] or text
    return text.removeprefix(ours)
