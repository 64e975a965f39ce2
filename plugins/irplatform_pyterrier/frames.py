"""Between PyTerrier's data frames and our topics, rankings and documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from irplatform.kit import quoted
from irplatform.plugin import Document, InputError, Ranking, Run, Topic
from irplatform.registry.loading import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.plugin import Collection, Documents

RESULT = ("docno", "score", "rank")


def topics_frame(collection: Path | str) -> pd.DataFrame:
    """The topics of a collection."""
    topics = registry().collection(str(collection)).topics
    rows = [{"qid": topic.id, "query": topic.query, **_columns(topic.fields)} for topic in topics]
    return pd.DataFrame(rows, columns=None if rows else ["qid", "query"])


def qrels_frame(collection: Path | str) -> pd.DataFrame:
    """The judgments of a collection."""
    resolved = registry().collection(str(collection))
    if resolved.load_qrels is None:
        raise InputError(f"'{resolved.id}' has no judgments.")
    grades = resolved.qrels
    rows = [(topic, doc, grade) for topic in grades for doc, grade in grades[topic].items()]
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


def documents_of(collection: Path | str) -> Iterator[dict[str, str]]:
    """The documents of a collection."""
    for document in registry().documents_of(str(collection)).corpus:
        yield {"docno": document.id, "title": document.title, "abstract": document.abstract}


def filled(frame: pd.DataFrame, collection: Collection | None) -> pd.DataFrame:
    """A frame with ids as texts, and the query of its topic in every row.

    PyTerrier's union of two retrievers leaves the queries of the second out. Such a row has the
    query of the topic's other rows, or else that of the collection's topic.

    Raises:
        InputError: a topic has two queries, or none.
    """
    if not isinstance(frame, pd.DataFrame):  # polars
        frame = pd.DataFrame(frame.to_dict(as_series=False))
    names = [name for name in ("qid", "docno") if name in frame]
    ids = {name: [Run.id_text(value, f"a {name}") for value in frame[name]] for name in names}
    frame = frame.assign(**ids).astype(dict.fromkeys(names, str))  # also without rows
    if not {"qid", "query"} <= {*frame.columns}:
        return frame
    queries = _first(frame, "qid", "query", refuse_others=True)
    collection_queries = (
        {topic.id: topic.query for topic in collection.topics} if collection else {}
    )
    for topic in dict.fromkeys(frame["qid"]):
        if topic not in queries and topic not in collection_queries:
            raise InputError(f"topic '{topic}' has no query in the frame's column 'query'.")
    texts = [queries.get(topic) or collection_queries[topic] for topic in frame["qid"]]
    return frame.assign(query=texts).astype({"query": str})


def _first(
    frame: pd.DataFrame, key: str, column: str, *, refuse_others: bool = False
) -> dict[str, Any]:
    """The first text, or list of texts, that is not missing, for each value of a key."""
    first: dict[str, Any] = {}
    for at, value in zip(frame[key], frame[column], strict=True):
        if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
            continue
        if refuse_others and not str(value).strip():
            continue
        text = tuple(map(str, value)) if isinstance(value, list | tuple) else str(value)
        if first.setdefault(at, text) != text and refuse_others:
            raise InputError(
                f"topic '{at}' has two queries, {quoted(first[at])} and {quoted(text)}: give "
                "each a qid of its own."
            )
    return first


def texts_of(frame: pd.DataFrame) -> dict[str, Document]:
    """The documents of a frame by id: `title` where it is, and `abstract` or else `text`.

    Raises:
        InputError: a document has neither in any row.
    """
    body = "abstract" if "abstract" in frame else "text"
    titles = _first(frame, "docno", "title") if "title" in frame else {}
    bodies = _first(frame, "docno", body)
    ids = dict.fromkeys(frame["docno"])
    if lacking := [doc_id for doc_id in ids if doc_id not in bodies and doc_id not in titles]:
        raise InputError(f"document '{lacking[0]}' has no text in the frame's column '{body}'.")
    return {
        doc_id: Document(doc_id, titles.get(doc_id, ""), bodies.get(doc_id, "")) for doc_id in ids
    }


def topics_of(
    frame: pd.DataFrame, collection: Collection | None, fields: Sequence[str]
) -> list[Topic]:
    """The topics of a frame that is `filled`, one for each `qid`, in its order.

    A topic of the collection keeps its fields, also where its query was rewritten: PyTerrier keeps
    earlier queries in the columns `query_0`, `query_1` and so on.
    """
    by_id = {topic.id: topic for topic in collection.topics} if collection else {}
    queries = [name for name in frame.columns if name == "query" or name.startswith("query_")]
    columns = {name: _first(frame, "qid", name) for name in (*queries, *fields)}
    topics = []
    for qid in dict.fromkeys(frame["qid"]):
        topic = by_id.get(qid) or Topic(qid, "")
        topic_fields = (
            topic.fields if topic.query in [columns[name].get(qid) for name in queries] else {}
        )
        frame_fields = {name: columns[name][qid] for name in fields if qid in columns[name]}
        topics.append(
            replace(topic, query=columns["query"][qid], fields={**topic_fields, **frame_fields})
        )
    return topics


def run_of(frame: pd.DataFrame, name: str) -> Run:
    """The rankings of a frame of results, ordered by score; without scores in the frame's order.

    Raises:
        InputError: a score is not a finite number, or a document comes twice.
    """
    rankings = {}
    for topic, rows in frame.groupby("qid", sort=False):
        scores = rows["score"] if "score" in rows else range(len(rows), 0, -1)
        try:
            ranking = Ranking.of([*rows["docno"]], [*map(float, scores)])
        except (ValueError, TypeError) as error:
            raise InputError(f"the results for topic {topic} are not a ranking: {error}.") from None
        rankings[Run.id_text(topic, "a qid")] = ranking
    return Run(name, rankings)


def results_of(queries: pd.DataFrame, run: Run) -> pd.DataFrame:
    """A frame of results: the columns of the queries, then `docno`, `score` and `rank` from 0."""
    query_rows = queries.drop(columns=[*RESULT], errors="ignore").drop_duplicates("qid")
    rows = [
        (topic, doc_id, score, rank)
        for topic, ranking in run.rankings.items()
        for rank, (doc_id, score) in enumerate(ranking)
    ]
    results = pd.DataFrame(rows, columns=["qid", *RESULT])
    results = results.astype({"score": float, "rank": int})
    return query_rows.merge(results, on="qid", how="inner")


def candidates_frame(
    candidates: Sequence[tuple[Topic, Documents]],
    scores: Mapping[str, Sequence[float]] | None = None,
) -> pd.DataFrame:
    """Candidates as a frame of results, with their texts and the fields of topics and documents.

    Args:
        candidates: topics and their candidates, best first.
        scores: topic id to the scores of its candidates; without, they fall by 1 from rank to rank.
    """
    rows = []
    for topic, documents in candidates:
        of_topic = {"qid": topic.id, "query": topic.query, **_columns(topic.fields)}
        values = scores[topic.id] if scores else [float(-rank) for rank in range(len(documents))]
        for rank, (document, score) in enumerate(zip(documents, values, strict=True)):
            rows.append(
                {
                    **_columns(document.fields),
                    **of_topic,
                    "docno": document.id,
                    "score": score,
                    "rank": rank,
                    "title": document.title,
                    "abstract": document.abstract,
                    "text": document.text,
                }
            )
    return pd.DataFrame(rows)


def queries_frame(topics: Sequence[Topic]) -> pd.DataFrame:
    """Topics as a frame of queries, with their fields."""
    return pd.DataFrame(
        [{"qid": topic.id, "query": topic.query, **_columns(topic.fields)} for topic in topics]
    )


def _columns(fields: Mapping[str, object]) -> dict[str, object]:
    """Fields as columns, several values as a list; names that PyTerrier uses are left out."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in fields.items()
        if name not in ("qid", "query", "docid", *RESULT)
    }
