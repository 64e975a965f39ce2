"""Runs made again from their metadata: in an empty cache and another folder, and compared."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.analysis.fuse import fuse_runs
from irplatform.collections.names import aliases_file
from irplatform.errors import InputError
from irplatform.experiment.arguments import as_path
from irplatform.experiment.calls import settings_from
from irplatform.experiment.run import run_again
from irplatform.files.writing import home
from irplatform.lucene.java import class_archive
from irplatform.run_folder.ir_metadata import as_recorded, read_yaml
from irplatform.run_folder.listed import current_path, described_runs
from irplatform.run_folder.metadata_files import (
    SUFFIX,
    is_as_recorded,
    lines_digest,
    read_metadata,
)
from irplatform.run_folder.overlap import overlap
from irplatform.runs import read_run
from irplatform.runs.names import file_name
from irplatform.system.process import keep_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.experiment.arguments import AnyPath
    from irplatform.run_folder.overlap import Overlap

_LENT = ("collections", "kb", "lucene")
"""Folders that an empty cache borrows: what users put there, and a jar that pip fetched."""


@dataclass(frozen=True)
class RunAgain:
    """A run that was made again.

    Attributes:
        name: the run file's name; below the folder that was named, for several folders.
        recorded: the SHA-256 of its lines in the metadata.
        obtained: that of the new run.
        path: the new run file; None if it was not kept.
        overlap: how alike both rankings are; None if the bytes are the same, or the recorded run
            is not beside its metadata.
    """

    name: str
    recorded: str
    obtained: str
    path: Path | None
    overlap: Overlap | None = None

    @property
    def same(self) -> bool:
        """The new run has the same bytes."""
        return self.recorded == self.obtained

    def as_json(self) -> dict[str, Any]:
        """Return an entry of `runs`."""
        alike = self.overlap
        return {
            "run": self.name,
            "same": self.same,
            "recorded": self.recorded,
            "obtained": self.obtained,
            "path": str(self.path) if self.path else None,
            "rbo": alike.rbo if alike else None,
            "same_topics": alike.same if alike else None,
            "topics": alike.topics if alike else None,
        }


@dataclass(frozen=True)
class Rerun:
    """The outcome of making runs again.

    Attributes:
        runs: each run that the metadata describe.
        seconds: how long it took.
        left_out: systems of the same command that a single run does not need.
    """

    runs: Sequence[RunAgain]
    seconds: float
    left_out: Sequence[str] = ()

    @property
    def same(self) -> bool:
        """All runs have the same bytes."""
        return all(run.same for run in self.runs)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `platform rerun`."""
        return {
            "same": self.same,
            "seconds": round(self.seconds, 1),
            "left_out": [*self.left_out],
            "runs": [run.as_json() for run in self.runs],
        }


@dataclass(frozen=True)
class _Recorded:
    """A run as its metadata describe it; the file at `path` may be missing, or another one."""

    file: str
    sha256: str
    path: Path

    def compare(self, again: Path) -> tuple[str, Overlap | None]:
        """Return the digest of the new run, and how alike it is if the bytes differ."""
        obtained = lines_digest(again)
        is_there = self.path.is_file() and is_as_recorded(self.path, self.sha256)
        if obtained == self.sha256 or not is_there:
            return obtained, None
        return obtained, overlap(read_run(self.path), read_run(again))


@dataclass(frozen=True)
class _Command:
    """A command to repeat.

    Attributes:
        call: its function and settings.
        runs: its runs.
        is_complete: repeat all, not only what the one run needs.
    """

    call: Mapping[str, Any]
    runs: Sequence[_Recorded]
    is_complete: bool

    def repeat(self, folder: Path, collection: str | None) -> Sequence[str]:
        """Make the runs in a folder; return the systems that were not needed."""
        file = self.runs[0].file
        if self.call.get("function") == "fuse_runs":
            fuse_runs(**self.call["settings"], out=folder / file)
            return ()
        settings = replace(settings_from(self.call), run_dir=folder)
        if collection is not None:
            settings = replace(settings, collection=collection)
        return run_again(settings, None if self.is_complete else file_name(Path(file)))


def rerun(
    metadata: AnyPath,
    *,
    out: AnyPath | None = None,
    collection: str | None = None,
    cached: bool = False,
) -> Rerun:
    """Make runs again from their metadata, and compare.

    Args:
        metadata: `NAME.run.meta.json` or the run beside it, for this run and what it starts from;
            `ir-metadata.yml`, for all runs of a command; a folder, for all runs in it.
        out: the folder for the new runs; None is a temporary one.
        collection: where the collection is now, if not where it was.
        cached: use what the cache holds, instead of an empty one.

    Raises:
        InputError: the metadata do not say how to make the run, or `out` has other runs in it.

    Examples:
        >>> import irplatform as ir
        >>> report = ir.run("demo", depth=10, run_dir="runs/ten")
        >>> ir.rerun("runs/ten/bm25.run.meta.json").same
        True
    """
    metadata = as_path(metadata, "metadata")
    out = None if out is None else as_path(out, "out")
    commands = _commands(metadata)
    started = time.monotonic()
    runs: list[RunAgain] = []
    left_out: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="irplatform-rerun-") as scratch,
        _cache(None if cached else Path(scratch) / "cache"),
    ):
        for number, command in enumerate(commands):
            below = Path()
            if metadata.is_dir():
                below = command.runs[0].path.parent.relative_to(metadata)
            folder = (out or Path(scratch) / f"runs-{number}") / below
            left_out += command.repeat(folder, collection)
            for run in command.runs:
                path = folder / run.file
                if not path.exists():
                    raise InputError(f"the settings make no {run.file} now.", path=metadata)
                name, location = str(below / run.file), path if out else None
                obtained, alike = run.compare(path)
                runs.append(RunAgain(name, run.sha256, obtained, location, alike))
    return Rerun(runs, time.monotonic() - started, left_out)


def _commands(path: Path) -> list[_Command]:
    """The commands that made the runs which these metadata describe."""
    if path.is_dir():
        return _of_folder(path)
    is_yaml = path.suffix in (".yml", ".yaml")
    run = path.with_name(path.name.removesuffix(SUFFIX))
    metadata = as_recorded(read_yaml(path)) if is_yaml else read_metadata(run)
    if not path.exists():
        raise InputError("there is no such file.", path=path)
    if not metadata:
        raise InputError("there are no metadata here, or beside this run.", path=path)
    call, runs = metadata.implementation.call, [metadata.run] if metadata.run else metadata.runs
    if not call or not runs:
        raise InputError(
            "this metadata has no settings or no digest of the run: an older version, or another "
            "program, wrote it.",
            path=path,
        )
    recorded = [
        _Recorded(
            about.file, about.sha256, current_path(path.with_name(about.file) if is_yaml else run)
        )
        for about in runs
        if about.file and about.sha256
    ]
    return [_Command(call.content(), recorded, is_complete=not metadata.run)]


def _of_folder(path: Path) -> list[_Command]:
    """The commands that made the runs of a folder, or of all folders of a matrix."""
    commands: dict[str, _Command] = {}
    for run in described_runs(path):
        metadata = read_metadata(run)
        about, call = metadata.run, metadata.implementation.call.content()
        if not (about.file and about.sha256 and call):
            continue
        key = json.dumps([str(run.parent), call], sort_keys=True)
        command = commands.setdefault(
            key, _Command(call, (), is_complete=call.get("function") == "run")
        )
        recorded = _Recorded(about.file, about.sha256, run)
        commands[key] = replace(command, runs=[*command.runs, recorded])
    if not commands:
        raise InputError("there are no runs here whose metadata say how to make them.", path=path)
    return [*commands.values()]


@contextmanager
def _cache(folder: Path | None) -> Iterator[None]:
    """Use an empty cache, which borrows knowledge bases and collections; None changes nothing."""
    if folder is None:
        yield
        return
    keep_nothing()
    folder.mkdir(parents=True)
    for name in _LENT:
        if (home() / name).is_dir():
            (folder / name).symlink_to(home() / name, target_is_directory=True)
    if aliases_file().exists():
        shutil.copyfile(aliases_file(), folder / aliases_file().name)
    variables = {"IRPLATFORM_HOME": str(folder), class_archive.VARIABLE: class_archive.lent()}
    before = {name: os.environ.get(name) for name in variables}
    os.environ |= variables
    try:
        yield
    finally:
        for name, value in before.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value
