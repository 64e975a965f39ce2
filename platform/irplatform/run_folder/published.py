"""Published results to compare with: a folder where `platform reproduce` kept rows.

Its `published.json` has the scores of every topic, of whole rankings and in the mean over a row's
seeds. Comparisons use these. The run files beside it are of the first seed, and cut short.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - pydantic reads it
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from pydantic import FiniteFloat  # noqa: TC002 - pydantic reads it

from irplatform.errors import InputError
from irplatform.files.writing import atomic_write
from irplatform.run_folder.forms import read_form
from irplatform.runs.names import alone_name

if TYPE_CHECKING:
    from collections.abc import Iterable

FILE_NAME = "published.json"
JUDGED = "judged"
"""The protocol by which the judged documents of a topic are ranked, and no others."""
_HINT = "`platform reproduce` writes it."


@dataclass(frozen=True)
class PublishedRow:
    """A row of published results, or its reranker alone.

    Attributes:
        file: the name of its run file, of the first seed.
        sha256: of the lines of that file.
        seeds: how many trainings the scores are a mean of.
        longest: documents of the longest whole ranking.
        per_topic: measure name to topic id to value.
        rerank_depth: documents of a topic that were reranked; None by the judged protocol.
        first_stage: the name of the run that a reranker was given; "" for other runs.
        share: the first stage's weight in a reranker's run.
        version: of the platform.
        commit: of the platform's source.
    """

    file: str
    sha256: str
    seeds: int
    longest: int
    per_topic: Mapping[str, Mapping[str, FiniteFloat]]
    rerank_depth: int | None = None
    first_stage: str = ""
    share: float | None = None
    version: str = ""
    commit: str = ""


@dataclass(frozen=True)
class PublishedTable:
    """Rows of one collection and protocol, which can be compared with each other.

    Attributes:
        collection: as rows name it, with `${VARIABLE}` for variables of the environment.
        protocol: `JUDGED`, or "retrieved".
        depth: documents of a topic that run files have at most.
        marks: name and fingerprints of the collection, as metadata of runs have them.
        rows: id to row; a reranker's own scores are ID-alone.
    """

    collection: str
    protocol: str
    depth: int
    marks: Mapping[str, str | None]
    rows: Mapping[str, PublishedRow]


@dataclass(frozen=True)
class PublishedRuns:
    """The published ones among some run files, and `alone` their rerankers' rows, by run file.

    All of them lie in `folder`.
    """

    table: PublishedTable | None = None
    folder: Path = Path()
    rows: Mapping[Path, PublishedRow] = field(default_factory=dict)
    alone: Mapping[Path, PublishedRow] = field(default_factory=dict)

    @property
    def measures(self) -> list[str]:
        """The measures that all rows have, in the order of the first."""
        first, *others = [row.per_topic for row in self.rows.values()] or [{}]
        return [measure for measure in first if all(measure in row for row in others)]


def write_published(table: PublishedTable, folder: Path) -> None:
    """Write the table of a folder, whole or not at all; InputError if that cannot be."""
    with atomic_write(folder / FILE_NAME, "wb") as file:
        file.write(orjson.dumps(table, default=dict) + b"\n")


def read_published(folder: Path) -> PublishedTable | None:
    """Read the table of a folder, None if it has none; InputError if it has another form."""
    path = folder / FILE_NAME
    return read_form(path, PublishedTable, _HINT) if path.is_file() else None


def published_among(files: Iterable[Path]) -> PublishedRuns:
    """Return the published ones among run files; InputError if they are of two tables."""
    published = PublishedRuns()
    by_folder: dict[Path, list[Path]] = {}
    for file in files:
        by_folder.setdefault(file.parent, []).append(file)
    for folder, runs in by_folder.items():
        if not (table := read_published(folder)):
            continue
        names = {row.file: name for name, row in table.rows.items()}
        systems = {run: names[run.name] for run in runs if run.name in names}
        if systems and published.rows:
            raise InputError(
                f"{published.folder} and {folder} have results that cannot be compared with each "
                "other: of other topics, or other candidates. Name one of them."
            )
        if systems:
            rows = {run: table.rows.get(alone_name(name)) for run, name in systems.items()}
            published = PublishedRuns(
                table,
                folder,
                {run: table.rows[name] for run, name in systems.items()},
                {run: row for run, row in rows.items() if row},
            )
    return published


def published_digests(folder: Path, *, alone: bool) -> dict[Path, str]:
    """Return the run files of a published folder, with the SHA-256 of their lines.

    Rerankers' own scores are left out, unless `alone` is set.
    """
    table = read_published(folder)
    rows = table.rows.items() if table else ()
    return {
        folder / row.file: row.sha256
        for name, row in rows
        if alone or not name.endswith(alone_name(""))
    }
