"""The file beside each run that records how it was made.

Its sections are those of ir_metadata (Breuer, Keller and Schaer, SIGIR 2022), after the PRIMAD
model of reproducibility: platform, research goal, implementation, method, actor, data. It is JSON,
with further keys for digests, seeds and timings.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, listing
from irplatform.files.digests import file_digest
from irplatform.files.reading import open_bytes
from irplatform.files.writing import as_json, atomic_write
from irplatform.run_folder.environment import describe_platform, source_revision, without_unknown
from irplatform.run_folder.forms import read_form
from irplatform.run_folder.ir_metadata import as_recorded, read_head
from irplatform.run_folder.metadata_model import (
    NOTHING,
    Data,
    Method,
    RunFile,
    RunMetadata,
    known_parts,
)
from irplatform.runs.names import PACKED, other_form
from irplatform.runs.trec import ranking_digest, run_rows, write_run
from irplatform.system.console import notice_once
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.runs.run import Run

_BLOCK = 1 << 18
"""Bytes that are digested at once."""
_COMMENTS = re.compile(rb"^#.*\n?", re.MULTILINE)
_SCHEMA_VERSION = "0.1"
"""Of ir_metadata."""
SUFFIX = ".meta.json"
_TIES = "document id descending"
_REMEDY = "Put the right ones back, or remove this file: then nothing is known of the run."


def metadata_path(run_path: Path | str) -> Path:
    """Return the path of a run file's metadata: `delta.run.gz.meta.json` for `delta.run.gz`."""
    path = Path(run_path)
    return path.with_name(path.name + SUFFIX)


def run_metadata(
    *,
    tag: str,
    command: str,
    method: Method,
    data: Data | None = None,
    timings: Mapping[str, float],
    measures: Sequence[str] = (),
    baseline: str | None = None,
    significance: Sequence[Mapping[str, str]] = (),
    call: Mapping[str, Any] | None = None,
    code: str | None = None,
    java: str | None = None,
    lucene: str | None = None,
    accelerator: str | None = None,
) -> RunMetadata:
    """Build the metadata of a run.

    Args:
        tag: the run's name.
        command: how the run was asked for: a command line, or an expression in Python.
        method: how the run was made.
        data: what was searched, learned from and read.
        timings: seconds per phase.
        measures: names of the reported measures.
        baseline: the run that the others are tested against.
        significance: the tests: name, correction method.
        call: the function and the settings that make the run again, see `experiment.calls`.
        code: a digest of the platform's source.
        java: see `describe_platform`.
        lucene: see `describe_platform`.
        accelerator: see `describe_platform`.
    """
    source = {"lang": ["python", "java"], "version": __version__, "commit": source_revision()}
    implementation = {
        "executable": {"cmd": command, "working directory": str(Path.cwd())},
        "source": without_unknown(source | {"digest": code}),
        "call": call,
    }
    evaluation = {
        "reported measures": list(measures),
        "baseline": baseline and [baseline],
        "significance test": [dict(test) for test in significance] or None,
    }
    content = {
        "schema version": _SCHEMA_VERSION,
        "tag": tag,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "platform": describe_platform(java=java, lucene=lucene, accelerator=accelerator),
        "research goal": {"evaluation": without_unknown(evaluation)},
        "implementation": without_unknown(implementation),
        "data": data or {},
        "method": {"automatic": True, "score ties": _TIES} | method.content(),
        "timings": {phase: round(seconds, 3) for phase, seconds in timings.items()},
    }
    return RunMetadata.model_validate(content)


def write_run_with_metadata(run: Run, path: Path, metadata: RunMetadata) -> RunFile:
    """Write a run file and its metadata, whose tag becomes the last column of the file.

    The metadata gain `run`: the file's name, the SHA-256 of its lines (unpacked, if the file is
    gzipped), and a digest of each topic's ranking.

    If interrupted, no run stands beside the metadata of another, or without its own: the same
    command writes it again. If the disk is full, the old files stay.

    Returns:
        What the metadata say of the file.

    Raises:
        InputError: see `write_run`.
    """
    rankings: dict[str, str] = {}
    about = RunFile()

    def complete(sha256: str) -> None:
        """Write the metadata before the run gets its name, and after the old run has gone."""
        nonlocal about
        about = RunFile(file=path.name, sha256=sha256, rankings=rankings)
        write_metadata(path, metadata, about, in_place_of=path)

    write_run(run.renamed(metadata.tag), path, complete=complete, digests=rankings)
    return about


def write_metadata(
    path: Path, metadata: RunMetadata, about: RunFile, *, in_place_of: Path | None = None
) -> None:
    """Write the metadata of a run file; another run, if they are in place of its own, goes."""
    with atomic_write(metadata_path(path), "wb") as file:
        file.write(as_json({**metadata.content(), "run": about.content()}, default=_plain))
        file.flush()
        if in_place_of is not None:
            Path(os.path.realpath(in_place_of)).unlink(missing_ok=True)


def lines_digest(path: Path) -> str:
    """Return the SHA-256 of a run file's lines, unpacked and without comments.

    Raises:
        InputError: the file cannot be read.
    """
    digest = hashlib.sha256()
    with open_bytes(path) as file:
        while block := file.read(_BLOCK) + file.readline():
            digest.update(_COMMENTS.sub(b"", block) if b"#" in block else block)
    return digest.hexdigest()


def written_digest(path: Path) -> str:
    """Return the SHA-256 of all lines of a run file, which is packed if its name says so.

    Raises:
        InputError: the file cannot be read.
    """
    if not path.name.endswith(PACKED):
        return file_digest(path)
    digest = hashlib.sha256()
    with open_bytes(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def ranking_digests(run: Run) -> dict[str, str]:
    """Return 8 hexadecimal digits for each topic's documents and scores, by topic id."""
    return {
        topic_id: ranking_digest(run_rows(ranking))
        for topic_id, ranking in run.rankings.items()
        if len(ranking)
    }


def is_as_recorded(path: Path, sha256: str) -> bool:
    """Return whether a run file's lines have a digest, see `lines_digest`; not if it is damaged."""
    with suppress(InputError):
        return lines_digest(path) == sha256 or file_digest(path) == sha256
    return False


def metadata_file(run_path: Path | str) -> Path | None:
    """Return the metadata beside a run, which may have been packed or unpacked since; or None."""
    places = (metadata_path(run_path), metadata_path(other_form(Path(run_path))))
    return next(filter(os.path.lexists, places), None)


def read_metadata(run_path: Path | str) -> RunMetadata:
    """Read the metadata beside a run, or in its head; empty if there are none.

    Those of other programs are read, too: parts of another form are left out, with a warning.

    Raises:
        InputError: the file beside the run cannot be read, or has no metadata.
    """
    if (path := metadata_file(run_path)) is None:
        try:
            return as_recorded(read_head(Path(run_path)))
        except InputError:
            return NOTHING
    metadata, odd = known_parts(read_form(path, object, _REMEDY))
    if not metadata:
        wrong = "these are no metadata of a run: no section such as 'method' or 'data'."
        raise InputError(f"{wrong} {_REMEDY}", path=path)
    if odd:
        notice_once(f"WARNING: {path}: parts of another form are not read: {listing(odd)}")
    return metadata


def known_metadata(run: Path) -> RunMetadata:
    """Return the metadata beside a run, or in its head, which say how it was made.

    Raises:
        InputError: there are none, or they do not say it, or there is no run either.
    """
    metadata = read_metadata(run)
    if not metadata.says("method"):
        if path := metadata_file(run):
            raise InputError("these metadata have no section 'method', how it was made.", path=path)
        if not run.exists():
            raise InputError("there is no such file.", path=run)
        if read_head(run):
            raise InputError("its ir_metadata have no section 'method', how it was made.", path=run)
        raise InputError(
            f"there is no {metadata_path(run).name} beside this run, nor ir_metadata in it.",
            path=run,
        )
    return metadata


def _plain(value: object) -> object:
    """Convert paths, sets and numpy's numbers to JSON."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    if callable(item := getattr(value, "item", None)):
        return item()
    raise TypeError(f"metadata cannot hold a {type(value).__name__}: {value!r}")
