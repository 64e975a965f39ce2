"""Between PyTerrier's data frames and our topics, rankings and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from irplatform.data import Document, Topic
from irplatform.errors import InputError
from irplatform.registry.loading import registry
from irplatform.runs import Ranking, Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Collection, Documents

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
    grades = resolved.load_qrels()
    rows = [(topic, doc, grade) for topic in grades for doc, grade in grades[topic].items()]
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


def documents_of(collection: Path | str) -> Iterator[dict[str, str]]:
    """The documents of a collection."""
    for document in registry().documents_of(str(collection)).corpus:
        yield {"docno": document.id, "title": document.title, "abstract": document.abstract}


def texts_of(frame: pd.DataFrame) -> dict[str, Document]:
    """The documents of a frame by id: `title` where it is, and `abstract` or else `text`."""
    body = "abstract" if "abstract" in frame else "text"
    rows = frame.drop_duplicates("docno").to_dict("records")
    return {
        str(row["docno"]): Document(str(row["docno"]), str(row.get("title", "")), str(row[body]))
        for row in rows
    }


def topics_of(
    frame: pd.DataFrame, collection: Collection | None, fields: Sequence[str]
) -> list[Topic]:
    """The topics of a frame, one for each `qid`, in its order.

    A topic of the collection keeps its fields, also where its query was rewritten: PyTerrier keeps
    earlier queries in the columns `query_0`, `query_1` and so on.
    """
    known = {topic.id: topic for topic in collection.topics} if collection else {}
    queries = [name for name in frame.columns if name == "query" or name.startswith("query_")]
    topics = []
    for row in frame.drop_duplicates("qid").to_dict("records"):
        topic, query = known.get(str(row["qid"])), str(row["query"])
        own = topic.fields if topic and topic.query in [row[name] for name in queries] else {}
        topics.append(Topic(str(row["qid"]), query, {**own, **{n: row[n] for n in fields}}))
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
            ranking = Ranking.of([*map(str, rows["docno"])], [*map(float, scores)])
        except (ValueError, TypeError) as error:
            raise InputError(f"the results for topic {topic} are not a ranking: {error}.") from None
        rankings[str(topic)] = ranking
    return Run(name, rankings)


def results_of(queries: pd.DataFrame, run: Run) -> pd.DataFrame:
    """A frame of results: the columns of the queries, then `docno`, `score` and `rank` from 0."""
    known = queries.drop(columns=[*RESULT], errors="ignore").drop_duplicates("qid")
    rows = [
        (topic, doc_id, score, rank)
        for topic, ranking in run.rankings.items()
        for rank, (doc_id, score) in enumerate(ranking)
    ]
    found = pd.DataFrame(rows, columns=["qid", *RESULT])
    found = found.astype({"score": float, "rank": int})
    return known.assign(qid=known["qid"].astype(str)).merge(found, on="qid", how="inner")


def candidates_frame(
    asked: Sequence[tuple[Topic, Documents]], scores: Mapping[str, Sequence[float]] | None = None
) -> pd.DataFrame:
    """Candidates as a frame of results, with their texts and the fields of topics and documents.

    Args:
        asked: topics and their candidates, best first.
        scores: topic id to the scores of its candidates; without, they fall by 1 from rank to rank.
    """
    rows = []
    for topic, documents in asked:
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
