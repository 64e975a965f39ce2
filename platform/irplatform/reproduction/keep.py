"""Keeps what rows left, to compare with: scores of topics, and a short run of the first seed.

Rows of one collection and protocol share a folder. Equal results give equal bytes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.files.digests import fingerprint
from irplatform.files.formats import read_own_json
from irplatform.run_folder.folder import read_scores
from irplatform.run_folder.listed import REPORT, current_path
from irplatform.run_folder.metadata_files import read_metadata
from irplatform.run_folder.mixture import mixture_of
from irplatform.run_folder.published import (
    JUDGED,
    PublishedRow,
    PublishedTable,
    read_published,
    write_published,
)
from irplatform.runs import Run, read_run
from irplatform.runs.names import alone_name, file_beside, file_name, run_file
from irplatform.runs.run import Ranking
from irplatform.runs.trec import write_run

if TYPE_CHECKING:
    from irplatform.reproduction.execute import Execution
    from irplatform.runs.run import Scores

_DEPTH = 50
"""Documents of a topic in a run file."""
_RESULTS = 2_400
"""Results in a run file; where there are more topics, each has fewer documents."""
_DIGITS = 3
"""Significant digits of scores, where their order needs no more."""


def keep(execution: Execution, folder: Path) -> Path | None:
    """Add a row that was run to the table of its collection and protocol.

    Args:
        execution: the row, with the folder of its runs.
        folder: has a folder for each table, where rows of other ids stay.

    Returns:
        The folder of the table; None if the row left no such run, or starts from a run file.

    Raises:
        InputError: the folder cannot be written to, or has another file in place of a table.
    """
    row, source = execution.row, execution.folder
    # A run file in place of a retriever is somebody else's, and not ours to give away.
    if source is None or any("/" in row.fill(retriever) for retriever in row.retrievers):
        return None
    report = read_own_json(source / REPORT)
    systems = read_scores(source).systems
    entry = next((run for run in report["runs"] if run["name"] == row.name), None)
    if entry is None or row.name not in systems:
        return None
    final = current_path(source / Path(entry["path"]).name)
    alone = current_path(file_beside(final, alone_name(file_name(final))))
    topics = max(map(len, systems[row.name].per_topic.values()))
    place, table = _place(
        folder,
        PublishedTable(
            row.collection,
            report["candidates"]["protocol"],
            min(_DEPTH, -(-_RESULTS // topics)),
            read_metadata(final).data.test_collection.content(),
            {},
        ),
    )
    names = {row.id: (row.name, final), alone_name(row.id): (alone_name(row.name), alone)}
    rows = {name: record for name, record in table.rows.items() if name not in names}
    for name, (system, file) in names.items():
        per_topic = systems[system].per_topic if system in systems else None
        # A final run in which the first stage has no share is the reranker alone.
        if per_topic and (name == row.id or per_topic != rows[row.id].per_topic):
            seeds = len(entry.get("seeds", ())) or 1
            depth = report["candidates"].get("rerank_depth")
            rows[name] = _row(file, place / run_file(name, compressed=True), table.depth)
            rows[name] = replace(rows[name], seeds=seeds, rerank_depth=depth, per_topic=per_topic)
    write_published(replace(table, rows=dict(sorted(rows.items()))), place)
    return place


def _place(folder: Path, table: PublishedTable) -> tuple[Path, PublishedTable]:
    """The folder of a table, with the rows that it has; another one for other fingerprints."""
    name = str(table.marks["name"]) + ("-judged" if table.protocol == JUDGED else "")
    for place in (folder / name, folder / f"{name}-{fingerprint(table.marks)[:8]}"):
        content = read_published(place)
        if content is None or content.marks == table.marks:
            break
    return place, replace(table, rows=content.rows) if content else table


def _row(file: Path, target: Path, depth: int) -> PublishedRow:
    """Write a short run; return what it and its metadata say, without scores of topics."""
    run, metadata = read_run(file), read_metadata(file)
    short = {topic: short_scores(ranking.top(depth)) for topic, ranking in run.rankings.items()}
    digests: list[str] = []
    write_run(Run(target.name.partition(".run")[0], short), target, complete=digests.append)
    mixture, source = mixture_of(metadata.method), metadata.implementation.source
    return PublishedRow(
        file=target.name,
        sha256=digests[0],
        seeds=1,
        longest=max(run.lengths, default=0),
        per_topic={},
        first_stage=mixture.first_stage,
        share=mixture.share,
        version=str(source.get("version", "")),
        commit=str(source.get("commit", "")),
    )


def short_scores(ranking: Ranking) -> Ranking:
    """Return a ranking with scores of few digits: as many as their order and ties need.

    >>> short_scores(Ranking.of(["a", "b", "c"], [3.14159, 3.14159, 3.14321])).scores.tolist()
    [3.143199920654297, 3.1419999599456787, 3.1419999599456787]
    """
    values, places = np.unique(ranking.scores, return_inverse=True)
    digits = np.full(len(values), _DIGITS)
    while True:
        short = _rounded(values, digits)
        if not len(unordered := np.flatnonzero(short[:-1] >= short[1:])):
            return Ranking.in_order(ranking.doc_ids, short[places])
        digits[np.unique([unordered, unordered + 1])] += 1


def _rounded(values: Scores, digits: np.ndarray[Any, Any]) -> Scores:
    pairs = zip(values.tolist(), digits.tolist(), strict=True)
    return np.array([float(f"{value:.{count}g}") for value, count in pairs], dtype=values.dtype)
