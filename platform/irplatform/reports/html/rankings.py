"""The data of a page's topic browser: rankings with grades, titles and passages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from irplatform.reports.html.passages import TopicWords
from irplatform.system.console import progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.comparison.results import ComparedTopic, Comparison
    from irplatform.data import Document, Qrels
    from irplatform.runs.run import Run

DEEPEST = 100
"""Documents of a ranking at most, by default."""
_SHALLOWEST = 10
_MOST_RESULTS = 16_000
"""Results of all rankings together, by default: about two megabytes."""
_MOST_TOPICS = 400
_TITLE = 180
_DIGITS = {"values": 9, "scores": 4}


@dataclass(frozen=True)
class RankingSelection:
    """What a page shows of rankings.

    Attributes:
        topics: the topics, in their order.
        depth: the first documents of each ranking.
        left_out: the number of topics without rankings.
    """

    topics: Sequence[ComparedTopic]
    depth: int
    left_out: int = 0

    @classmethod
    def of(cls, comparison: Comparison, depth: int | None = None) -> RankingSelection:
        """Choose so much that a page stays small: 100 documents, fewer for many topics.

        Of more than 400 topics, those that differ most are taken.

        Args:
            comparison: the comparison.
            depth: the first documents of each ranking; None chooses.
        """
        topics: Sequence[ComparedTopic] = comparison.topics
        if len(topics) > _MOST_TOPICS:
            widest = comparison.most_different(comparison.measures[0], _MOST_TOPICS)
            topic_ids = {topic.id for topic in widest}
            topics = [topic for topic in topics if topic.id in topic_ids]
        rankings = max(1, len(topics) * len(comparison.systems))
        fitting = max(_SHALLOWEST, min(DEEPEST, _MOST_RESULTS // rankings))
        return cls(topics, depth or fitting, len(comparison.topics) - len(topics))

    def doc_ids(self, runs: Mapping[str, Run]) -> list[str]:
        """Return the ids of all documents that are shown, each once."""
        return list(
            dict.fromkeys(
                doc_id
                for topic in self.topics
                for run in runs.values()
                if topic.id in run.rankings
                for doc_id in run.rankings[topic.id].doc_ids[: self.depth]
            )
        )


@dataclass(frozen=True)
class Texts:
    """What is known of documents and topics beside their ids.

    Attributes:
        documents: those that are shown, by id.
        names: topic to the names of its concepts.
        explanations: topic to system to document to a reranker's explanation, as text.
        notes: what is missing and why, in sentences.
        machine: topic to the documents whose grade is a machine's.
    """

    documents: Mapping[str, Document] = field(default_factory=dict)
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    explanations: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    machine: Mapping[str, frozenset[str]] = field(default_factory=dict)


def browser_data(
    comparison: Comparison,
    runs: Mapping[str, Run],
    qrels: Qrels,
    selection: RankingSelection,
    texts: Texts,
) -> dict[str, Any]:
    """Return what the browser of topics reads, as JSON.

    `ids` and `titles` are of all documents. `topics` has for each topic its values by measure and
    system, and its `documents`, as places among these; the rankings and explanations are places
    among the topic's documents, grades and passages are in their order. `others` has the values of
    topics without rankings.

    Args:
        comparison: systems, measures and values.
        runs: the systems' runs, by name.
        qrels: judgments, for grades.
        selection: topics and depth.
        texts: documents and names of concepts.
    """
    doc_ids = selection.doc_ids(runs)
    topic_ids = {topic.id for topic in selection.topics}
    numbers = {doc_id: number for number, doc_id in enumerate(doc_ids)}
    titles = [_cut(texts.documents[d].title) if d in texts.documents else "" for d in doc_ids]
    names = [system.name for system in comparison.systems]
    topics = []
    with progress("gathering rankings", len(selection.topics), "topics") as advance:
        for topic in selection.topics:
            grades = qrels.get(topic.id, {})
            topics.append(_topic(topic, comparison, runs, grades, selection.depth, numbers, texts))
            advance(1)
    return {
        "systems": names,
        "measures": [*comparison.measures],
        "baseline": comparison.baseline or names[0],
        "depth": selection.depth,
        "ids": doc_ids,
        "titles": titles,
        "topics": topics,
        "others": [
            {"id": topic.id, "query": topic.query, "values": _values(topic, comparison)}
            for topic in comparison.topics
            if topic.id not in topic_ids
        ],
    }


def _values(topic: ComparedTopic, comparison: Comparison) -> list[list[float]]:
    """The values of a topic, by measure and system."""
    return [
        [_rounded(s.scores[m].per_topic.get(topic.id, 0.0), "values") for s in comparison.systems]
        for m in comparison.measures
    ]


def _topic(
    topic: ComparedTopic,
    comparison: Comparison,
    runs: Mapping[str, Run],
    grades: Mapping[str, float],
    depth: int,
    numbers: Mapping[str, int],
    texts: Texts,
) -> dict[str, Any]:
    rankings = [
        run.rankings[topic.id].top(depth) if topic.id in run.rankings else ()
        for run in runs.values()
    ]
    doc_ids = list(dict.fromkeys(doc_id for ranking in rankings for doc_id, _ in ranking))
    question = TopicWords(topic.query, texts.names.get(topic.id, ()))
    local = {doc_id: place for place, doc_id in enumerate(doc_ids)}
    passages: list[str] = []
    words: set[str] = set()
    concepts: set[str] = set()
    for doc_id in doc_ids:
        document = texts.documents.get(doc_id)
        passages.append("" if document is None else question.passage(document.abstract))
        title = "" if document is None else _cut(document.title)
        for text in (title, passages[-1]):
            for match in question.matches(text):
                (concepts if match.is_name else words).add(text[match.start : match.end])
    explained = texts.explanations.get(topic.id, {})
    machine = texts.machine.get(topic.id, frozenset())
    by_machine = [place for place, doc_id in enumerate(doc_ids) if doc_id in machine]
    return {
        **({"machine": by_machine} if by_machine else {}),
        "id": topic.id,
        "query": topic.query,
        "fields": {
            name: value if isinstance(value, str) else "; ".join(value)
            for name, value in topic.fields.items()
            if value
        },
        "values": _values(topic, comparison),
        "documents": [numbers[doc_id] for doc_id in doc_ids],
        "runs": [[local[doc_id] for doc_id, _ in ranking] for ranking in rankings],
        "scores": [[_rounded(score, "scores") for _, score in ranking] for ranking in rankings],
        "grades": [grades.get(doc_id) for doc_id in doc_ids],
        "relevant": sum(grade > 0 for grade in grades.values()),
        "passages": passages,
        "words": sorted(words),
        "concepts": sorted(concepts),
        "explanations": {
            system: {local[d]: text for d, text in by_doc.items() if d in local}
            for system, by_doc in explained.items()
        },
    }


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _TITLE else f"{text[: _TITLE - 1].rstrip()}…"


def _rounded(value: float, kind: str) -> float:
    return float(f"{value:.{_DIGITS[kind]}g}")
