"""Published results beside other runs: their scores, and what these runs must have in common.

Scores of topics are compared as they were stored. A run can be compared with them if it is of the
same documents, topics and judgments. Other candidates or depths are told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, counted, enumeration, listing
from irplatform.evaluation.measure_names import parse_measures
from irplatform.evaluation.sampled import topics_of
from irplatform.evaluation.scoring import Evaluation
from irplatform.run_folder.published import JUDGED
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from irplatform.evaluation.judgments import Judgments
    from irplatform.evaluation.kinds import MeasureFunction
    from irplatform.run_folder.metadata_model import RunMetadata
    from irplatform.run_folder.published import PublishedRow, PublishedRuns, PublishedTable
    from irplatform.runs.run import Run

_PARTS = {
    "documents": "documents",
    "topics": "topics",
    "qrels": "judgments",
    "sampled qrels": "judgments",
}
"""Key of metadata to what messages call it."""


def evaluations_of_published(
    published: PublishedRuns, judgments: Judgments, extra: Mapping[str, MeasureFunction]
) -> tuple[dict[Path, Evaluation], dict[Path, Evaluation]]:
    """Return the stored scores by run file, of rows and of their rerankers alone.

    Raises:
        InputError: a measure is not stored.
    """
    lacking = [m for m in judgments.measures if m not in published.measures]
    if published.table and lacking:
        raise InputError(
            f"the published results have no {listing(lacking)}: all of them were scored by "
            f"{enumeration(published.measures)}. {option('measures')} names those to use.",
            path=published.folder,
        )
    rows, alone = (
        {path: _evaluation(row, judgments, extra) for path, row in by_path.items()}
        for by_path in (published.rows, published.alone)
    )
    return rows, alone


def _evaluation(
    row: PublishedRow, judgments: Judgments, extra: Mapping[str, MeasureFunction]
) -> Evaluation:
    """The stored scores of the topics that are judged, and count, now."""
    measures = parse_measures(judgments.measures, extra, sampled=judgments.sampled is not None)
    sampled = topics_of(judgments.sampled or {})
    topics = {**judgments.qrels, **dict.fromkeys(sampled)}
    per_topic = {
        name: {topic: value for topic, value in row.per_topic[name].items() if topic in topics}
        for name in measures
    }
    means = {name: measure.mean(per_topic[name]) for name, measure in measures.items()}
    lengths = dict.fromkeys(topics, row.longest)
    return Evaluation(means, per_topic, sampled=sampled, lengths=lengths)


def refuse_other_collection(
    table: PublishedTable,
    present: Mapping[str, Any],
    runs: Mapping[str, RunMetadata],
    *,
    across: bool,
) -> None:
    """Raise InputError if judgments, or other runs, are not of the published results' collection.

    Args:
        table: the published results.
        present: fingerprints of the topics and judgments that score the other runs.
        runs: metadata of these runs, by name.
        across: different documents are allowed.
    """
    for name, metadata in {"": None, **runs}.items():
        marks = metadata.data.test_collection.content() if metadata else present
        settings = metadata.implementation.call.settings if metadata else {}
        others = {key for key in _PARTS if _differ(marks.get(key), table.marks.get(key))}
        if across or "index" in settings:
            others.discard("documents")
        if metadata and metadata.data.topics_chosen.asked:  # a quick look at some of the topics
            others &= {"documents"}
        if others:
            parts = [*dict.fromkeys(part for key, part in _PARTS.items() if key in others)]
            other = f"the run {name}, of '{marks.get('name')}'," if name else "the collection here"
            raise InputError(
                f"the published results are of '{table.marks.get('name')}', and {other} has other "
                f"{enumeration(parts)}. A test would compare these, not systems. Name the "
                f"published results of the run's collection, or another {option('collection')}."
            )


def _differ(one: object, other: object) -> bool:
    return one is not None and other is not None and one != other


def candidates_told(
    published: PublishedRuns,
    judgments: Judgments,
    runs: Mapping[str, Run],
    metadata: Mapping[str, RunMetadata],
) -> Iterator[str]:
    """Yield sentences on what else differs between published results and other runs.

    Args:
        published: the published results.
        judgments: the judgments.
        runs: the other runs, by name.
        metadata: what is known of them, by name.
    """
    if not (table := published.table):
        return
    rows = published.rows.values()
    judged = table.protocol == JUDGED
    ranked = "the judged documents of each topic" if judged else "what a first stage found"
    text = f"{counted(len(rows), 'published result')} of {published.folder}: {ranked}"
    if seeded := [row for row in rows if row.seeds > 1]:
        seeds = _alternatives({row.seeds for row in seeded})
        text += f"; {len(seeded)} of them by the mean of {seeds} seeds"
    yield f"{text}."
    for name, run in runs.items():
        facts = metadata[name].method.candidates if name in metadata else {}
        candidates = facts if isinstance(facts, dict) else {}
        protocol = candidates.get("protocol")
        if judged:
            yield from _judged_told(name, run, judgments)
            continue
        if protocol is None:
            yield f"{name} has no metadata: whether it ranks the same candidates is not known."
        elif protocol == JUDGED:
            yield f"WARNING: {name} ranks the judged documents, the published results {ranked}."
        depths: dict[str, tuple[int | None, set[int | None]]] = {
            "ranks": (max(run.lengths, default=0), {row.longest for row in rows}),
            "reranks": (candidates.get("rerank_depth"), {row.rerank_depth for row in rows}),
        }
        for verb, (number, row_depths) in depths.items():
            if number is not None and number not in row_depths:
                few = _alternatives({depth for depth in row_depths if depth is not None})
                yield f"{name} {verb} {number:,} documents of a topic, the published results {few}."


def _judged_told(name: str, run: Run, judgments: Judgments) -> Iterator[str]:
    """A warning where a run does not rank exactly the judged documents."""
    unjudged = lacking = 0
    for topic, grades in judgments.qrels.items():
        documents = {*run.rankings[topic].doc_ids} if topic in run.rankings else set()
        unjudged += len(documents - grades.keys())
        lacking += len(grades.keys() - documents)
    if unjudged or lacking:
        yield (
            f"WARNING: {name} lacks {counted(lacking, 'judged document')} and ranks "
            f"{unjudged:,} that are not judged; the published results rank exactly the judged ones."
        )


def _alternatives(numbers: set[int]) -> str:
    return " or ".join(f"{number:,}" for number in sorted(numbers))
