"""The folder that a command writes runs to, and their scores, topic by topic, in `scores.json`.

The folder may hold runs of earlier commands. `scores.json` names the systems of the last command;
later comparisons read it and score nothing again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence  # noqa: TC003 - pydantic reads them
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import FiniteFloat  # noqa: TC002 - pydantic reads it

from irplatform.errors import InputError
from irplatform.files.costs import Work, measured
from irplatform.files.facts import keep_fact, known_fact
from irplatform.files.writing import atomic_write, lock_open, made_folder
from irplatform.run_folder.forms import read_form
from irplatform.run_folder.ir_metadata import FILE_NAME as IR_METADATA
from irplatform.run_folder.listed import REPORT, runs_of_folder
from irplatform.run_folder.metadata_files import (
    is_as_recorded,
    metadata_path,
    read_metadata,
    write_metadata,
    write_run_with_metadata,
    written_digest,
)
from irplatform.run_folder.metadata_model import RunFile
from irplatform.run_folder.resuming import refuse_other_run
from irplatform.runs import Run, read_run
from irplatform.runs.names import file_name, other_form, run_file
from irplatform.runs.run import Later
from irplatform.spelling import option
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.run_folder.metadata_model import RunMetadata

FILE_NAME = "scores.json"
_HINT = "`platform run` writes it when it has scored its runs."
"""Key of the metadata: the fingerprint of the run that a reranker started from."""
SUMMARIES = (REPORT, FILE_NAME)
"""Files about all runs of a command, written when it ends."""
_SUMMARIES = " and ".join(SUMMARIES)
_ABOUT_ALL = (*SUMMARIES, IR_METADATA)
"""The same, and metadata for evaluation campaigns."""
_KIND = "result"
_SHOWN = 3
"""Files that a notice names."""


@dataclass(frozen=True)
class SystemScores:
    """The scores of one run.

    Attributes:
        means: measure name to mean.
        per_topic: measure name to topic id to value.
    """

    means: Mapping[str, FiniteFloat]
    per_topic: Mapping[str, Mapping[str, FiniteFloat]]


@dataclass(frozen=True)
class FolderScores:
    """The scores of all runs of a command.

    Attributes:
        collection: the collection's id.
        measures: names, in the order of the table.
        systems: run name to scores, in the order of the table; a reranker's own scores are
            NAME-alone.
    """

    collection: str
    measures: Sequence[str]
    systems: Mapping[str, SystemScores]


def write_scores(scores: FolderScores, folder: Path) -> None:
    """Write the scores of a folder's runs, whole or not at all.

    Raises:
        InputError: the folder cannot be written to.
    """
    content = orjson.dumps(scores, default=dict)  # the other mappings
    with atomic_write(folder / FILE_NAME, "wb") as file:
        file.write(content + b"\n")


def read_scores(folder: Path | str) -> FolderScores:
    """Read the scores that `write_scores` wrote.

    Raises:
        InputError: the file is missing, or is something else.
    """
    path = Path(folder) / FILE_NAME
    try:
        return read_form(path, FolderScores, _HINT)
    except FileNotFoundError as error:
        if path.parent.is_dir():
            raise InputError(f"there is no {FILE_NAME} here. {_HINT}", path=path.parent) from error
        raise InputError("there is no such folder.", path=path.parent) from error
    except NotADirectoryError as error:
        raise InputError("this is a file; name the folder of runs.", path=path.parent) from error


@dataclass(frozen=True)
class WrittenRun:
    """A run file.

    Attributes:
        path: the file.
        sha256: the SHA-256 of its lines.
        lengths: topic id to the number of results, 0 included.
        run: its results; those of a file that stood are read when they are used.
    """

    path: Path
    sha256: str
    lengths: Mapping[str, int]
    run: Run = field(repr=False, compare=False)

    @property
    def results(self) -> list[int]:
        """The number of results of each topic that has some."""
        return [length for length in self.lengths.values() if length]


class RunFolder:
    """Writes runs with their metadata, and knows which runs are its own.

    Run files are gzipped if `compress` is set. Of a run that stood in the other form, that file
    goes.

    Raises:
        InputError: a folder has the name of a file that is to be written.
    """

    def __init__(self, path: Path, *, compress: bool = False) -> None:
        for name in _ABOUT_ALL:
            if (path / name).is_dir():
                raise InputError("this is a folder; a run writes a file here.", path=path / name)
        self.path = path
        self._compress = compress
        self._digests: dict[str, str] = {}
        self._planned: Mapping[str, Mapping[str, Any]] = {}

    def plan(self, runs: Mapping[str, Mapping[str, Any]], *, force: bool) -> None:
        """Announce the runs before any is written.

        Args:
            runs: by name, the settings that decide a run's content; recorded with it.
            force: replace runs that were made with other settings.

        Raises:
            InputError: a run of that name was made with other settings, or has no record of them.
        """
        self._planned = runs
        instead = f"Name another {option('run_dir')}"
        for name, settings in {} if force else runs.items():
            for path in (self.file(name), other_form(self.file(name))):
                refuse_other_run(path, settings, instead)

    @property
    def run_names(self) -> tuple[str, ...]:
        """Names of the runs written so far."""
        return tuple(self._digests)

    def file(self, name: str) -> Path:
        """Return the path of a run file by the run's name."""
        return self.path / run_file(name, compressed=self._compress)

    @property
    def files(self) -> dict[str, str]:
        """The SHA-256 of the lines of the run files written so far, by the files' names."""
        return {self.file(name).name: digest for name, digest in self._digests.items()}

    def write(self, run: Run, metadata: RunMetadata, identity: str = "") -> WrittenRun:
        """Write a run file and its metadata, whose tag becomes the last column of the file.

        Args:
            run: the run, which is not read where its file has the right bytes already.
            metadata: how it was made.
            identity: stands for all that its rankings depend on; "" if that is not known.
        """
        path = self.file(run.name)
        if not self._digests:  # what an earlier command says of its runs is not about these
            for name in _ABOUT_ALL:
                (self.path / name).unlink(missing_ok=True)
        self._digests[run.name] = ""
        method = metadata.method.having(settings=self._planned.get(run.name, {}))
        metadata = metadata.having(method=method)
        depends_on = {"run": identity, "tag": metadata.tag}
        record = known_fact(_KIND, run.name, depends_on) if identity else None
        if record and _stands(path, record["sha256"]):
            about = RunFile(file=path.name, sha256=record["sha256"], rankings=record["rankings"])
            write_metadata(path, metadata, about)
            lengths = record["lengths"]
            run = replace(run, rankings=Later(lambda: read_run(path).rankings))
        else:
            with measured(Work("write")) as meter:
                about = write_run_with_metadata(run, path, metadata)
                lengths = {topic: len(ranking) for topic, ranking in run.rankings.items()}
                meter.bytes = path.stat().st_size
                meter.work = Work("write", amount=sum(lengths.values()))
        if identity and not record:
            fact = {"sha256": about.sha256, "rankings": about.rankings, "lengths": lengths}
            keep_fact(_KIND, run.name, depends_on, fact)
        self._digests[run.name] = about.sha256 or ""
        if (other := other_form(path)).is_file():
            other.unlink()
        metadata_path(other).unlink(missing_ok=True)
        return WrittenRun(path, about.sha256 or "", lengths, run)

    def warning_of_replaced(self) -> str:
        """Return a warning if another command has written over runs of this one, or ""."""
        paths = {self.file(name): digest for name, digest in self._digests.items()}
        others = [p for p, d in paths.items() if not p.exists() or not is_as_recorded(p, d)]
        if not others:
            return ""
        return (
            f"WARNING: another command replaced runs in {self.path} while this one ran: "
            f"{_files(others)}. The table, {_SUMMARIES} do not describe them. Give each command "
            f"its own {option('run_dir')}."
        )

    def tell_of_others(self, first_stage: str, fingerprint: str) -> None:
        """Name the run files that were not written here.

        Args:
            first_stage: the name of the first stage's run.
            fingerprint: fingerprint of all that it depends on.
        """
        others = [p for p in runs_of_folder(self.path) if file_name(p) not in self._digests]
        orphans = [path for path in others if _is_orphan(path, first_stage, fingerprint)]
        if orphans:
            notice(
                f"WARNING: {self.file(first_stage).name} in {self.path} was replaced by another "
                "first stage's run. Do not compare it with these runs of earlier commands, which "
                f"rerank the old one: {_files(orphans)}"
            )
        if rest := [path for path in others if path not in orphans]:
            notice(
                f"{self.path} also has runs of earlier commands, which the table, {_SUMMARIES} "
                f"do not describe: {_files(rest)}"
            )


def _stands(path: Path, sha256: str) -> bool:
    """Return whether a run file has the lines of a digest; tell if it had them and was changed."""
    if not path.exists():
        return False
    with suppress(InputError):  # damaged
        if written_digest(path) == sha256:
            return True
    if _recorded_digest(path) == sha256:
        notice(f"{path} was changed after it was written, and is written again")
    return False


def _recorded_digest(path: Path) -> str | None:
    try:
        return read_metadata(path).run.sha256
    except InputError:  # damaged
        return None


def _is_orphan(path: Path, first_stage: str, fingerprint: str) -> bool:
    """Return whether a run reranks a first stage that has been replaced under its name."""
    try:
        metadata = read_metadata(path)
    except InputError:  # damaged
        return False
    started_from = metadata.method.first_stage or fingerprint
    return first_stage in metadata.research_goal.evaluation.baseline and (
        started_from != fingerprint
    )


def _files(paths: Sequence[Path]) -> str:
    more = len(paths) - _SHOWN
    names = ", ".join(path.name for path in paths[:_SHOWN])
    return f"{names} and {more:,} more" if more > 0 else names


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other commands from writing runs to a folder, which is made if missing.

    Some file systems cannot lock folders; there `RunFolder.warning_of_replaced` warns at the end.

    Raises:
        InputError: another command is writing runs to it.
    """
    with made_folder(folder):
        try:
            handle = os.open(folder, os.O_RDONLY)
        except OSError:  # Windows opens no folders
            yield
            return
        try:
            try:
                lock_open(handle)
            except BlockingIOError as error:
                message = "another command is writing runs to this folder. Wait for it, or name "
                raise InputError(f"{message}another {option('run_dir')}.", path=folder) from error
            except OSError:
                pass  # this file system cannot lock folders
            yield
        finally:
            os.close(handle)
