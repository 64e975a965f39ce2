"""Averages over some topics, and notices about topics that lack results or judgments.

A reranker can only rank what the first stage found, so papers also report the topics with a
relevant document among the first 1,000 (the set D1 of DeepSenSe). If training and test topics share
relevant documents, a model may remember documents instead of reading them; topics that share none
show the difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import InputError, counted, listing
from irplatform.evaluation.measure_names import beyond, is_inferred
from irplatform.runs import read_run
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from irplatform.data import Collection, Qrels
    from irplatform.evaluation.judgments import Judgments
    from irplatform.evaluation.scoring import Evaluation
    from irplatform.runs import Run


_DEPTH = 1000

SEEN, UNSEEN = "seen", "unseen"
"""Topics that share relevant documents with training topics, and the others."""


@dataclass(frozen=True)
class TopicFilter:
    """A choice of judged topics.

    Attributes:
        among: a run and a depth, see `parse_among`: topics with a relevant document there.
        relevant: `SEEN`: topics with a document that is also relevant to a training topic;
            `UNSEEN`: the others.
    """

    among: tuple[Path, int] | None = None
    relevant: str | None = None

    def __bool__(self) -> bool:
        return self.among is not None or self.relevant is not None

    def topics(self, qrels: Qrels, collection: Collection | None) -> frozenset[str]:
        """Return the judged topics that count; the collection's training partner has the seen ones.

        Raises:
            InputError: the run cannot be read, the collection has no training partner, or no topic
                is left.
        """
        topics = frozenset(qrels)
        if self.among is not None:
            path, depth = self.among
            topics &= found_among(qrels, read_run(path), depth)
        if self.relevant is not None:
            partner = collection.training() if collection and collection.training else None
            if partner is None or partner.load_qrels is None:
                lacking = (
                    f"'{collection.id}' has none with judgments"
                    if collection
                    else f"name one with {option('collection')}"
                )
                raise InputError(
                    f"{option('relevant')} needs a collection with a training partner: {lacking}."
                )
            overlap = sharing(qrels, partner.qrels)
            topics &= overlap if self.relevant == SEEN else frozenset(qrels) - overlap
        if not topics:
            raise InputError("no topic is left: no judged topic meets these conditions.")
        return topics


def parse_among(text: str) -> tuple[Path, int]:
    """Read a run and a depth, such as `first-stage.run@1000`; the default depth is 1,000.

    Raises:
        InputError: the depth is not a positive number.
    """
    name, at, depth = text.rpartition("@")
    if not at or Path(text).exists():
        return Path(text), _DEPTH
    if not depth.isdecimal() or int(depth) < 1:
        raise InputError(f"write a run and a depth as RUN@1000, not '{text}'.")
    return Path(name), int(depth)


def found_among(qrels: Qrels, run: Run, depth: int) -> frozenset[str]:
    """Return the topics with a relevant document among the first `depth` of a run."""
    return frozenset(
        topic
        for topic, grades in qrels.items()
        if topic in run.rankings
        and any(grades.get(d, 0) > 0 for d in run.rankings[topic].doc_ids[:depth])
    )


def sharing(qrels: Qrels, training: Qrels) -> frozenset[str]:
    """Return the topics with a document that is also relevant to a training topic."""
    relevant = {d for grades in training.values() for d, grade in grades.items() if grade > 0}
    return frozenset(
        topic
        for topic, grades in qrels.items()
        if any(grade > 0 and d in relevant for d, grade in grades.items())
    )


def only(judged: Judgments, topics: frozenset[str]) -> Judgments:
    """Keep the judgments of some topics.

    Raises:
        InputError: a measure is one of sampled judgments, which averages as its track does.
    """
    inferred = [] if judged.sampled is None else [m for m in judged.measures if is_inferred(m)]
    if inferred:
        raise InputError(
            f"{' and '.join(inferred)} cannot be limited to some topics. Name other measures with "
            f"{option('measures')}."
        )
    qrels = {t: grades for t, grades in judged.qrels.items() if t in topics}
    people = judged.people and only(judged.people, topics)
    return replace(judged, qrels=qrels, people=people)


def without(run: Run, topics: frozenset[str]) -> Run:
    """Leave some topics out of a run."""
    return replace(run, rankings={t: r for t, r in run.rankings.items() if t not in topics})


_SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "leading zeros": lambda topic: topic.lstrip("0"),
    "capitals": str.lower,
    "a final .0": lambda topic: topic.removesuffix(".0"),
}


def spelled_otherwise(topics: Iterable[str], others: Iterable[str]) -> str:
    """Return a sentence about a topic whose id is nearly that of another, or "".

    >>> spelled_otherwise(["07", "8"], ["7"])
    "'07' and '7' differ by leading zeros alone: write them alike."
    """
    topics, others = [*topics], [*others]
    for difference, plain in _SPELLINGS.items():
        ids = {plain(topic): topic for topic in others}
        for topic in topics:
            other = ids.get(plain(topic), topic)
            if other != topic:
                return f"'{topic}' and '{other}' differ by {difference} alone: write them alike."
    return ""


_SHOWN = 10


def notices(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """Return notices of topics without results, judgments or relevant documents, by run."""
    names: dict[str, list[str]] = {}
    for name, evaluation in evaluations.items():
        messages = [without_results(evaluation)] if evaluation.missing else []
        for message in (*messages, *without_judgments(evaluation)):
            names.setdefault(message, []).append(name)
    lines = [f"{listing(runs)}: {message}" for message, runs in names.items()]
    remark = without_relevant(next(iter(evaluations.values())))  # the same for all
    return [*lines, *([remark] if remark else [])]


def without_results(evaluation: Evaluation, collection: Collection | None = None) -> str:
    """Return a notice of judged topics without results; there is at least one.

    It names those that a collection does not have.
    """
    groups: dict[str, list[str]] = {}
    for topic in evaluation.missing:
        groups.setdefault(_counted(evaluation, topic), []).append(topic)
    parts = [
        f"{_topics(topics)} with no results ({explanation}): {listing(topics, _SHOWN)}"
        for explanation, topics in groups.items()
    ]
    ids = {topic.id for topic in collection.topics} if collection else {*evaluation.missing}
    if collection and (strange := [topic for topic in evaluation.missing if topic not in ids]):
        parts.append(f"judged, but no topics of '{collection.id}': {listing(strange, _SHOWN)}")
    return "; ".join(parts)


def without_judgments(evaluation: Evaluation) -> list[str]:
    """Return notices of topics with results that lack ordinary or sampled judgments."""
    sampled = {m: values for m, values in evaluation.per_topic.items() if is_inferred(m)}
    sampled_topics = {topic for values in sampled.values() for topic in values}
    names = " and ".join(sampled)
    groups = (
        (
            [topic for topic in evaluation.unjudged if topic not in sampled_topics],
            "with results but no judgments (they do not count)",
        ),
        (
            [topic for topic in evaluation.unjudged if topic in sampled_topics],
            f"with sampled judgments alone (they count for {names} alone)",
        ),
        (evaluation.unsampled, f"without sampled judgments (they do not count for {names})"),
    )
    return [
        f"{_topics(topics)} {condition}: {listing(topics, _SHOWN)}"
        for topics, condition in groups
        if topics
    ]


def without_relevant(evaluation: Evaluation) -> str:
    """Return a notice of topics without a relevant document, or ""."""
    if not (topics := evaluation.without_relevant):
        return ""
    heading = f"{_topics(topics)} without a relevant document, where no run can find one"
    return f"{heading} (they count): {listing(topics, _SHOWN)}"


def without_documents(evaluation: Evaluation) -> str:
    """Return a notice of topics for which a run found nothing, and that are not judged, or ""."""
    empty = [
        topic
        for topic, length in evaluation.lengths.items()
        if not length and topic not in evaluation.missing
    ]
    return f"finds nothing for {_topics(empty)}: {listing(empty, _SHOWN)}" if empty else ""


def cut_short(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """Return notices of measures that look deeper than a run's rankings go."""
    names: dict[tuple[str, int], list[str]] = {}
    for name, evaluation in evaluations.items():
        if measures := beyond(evaluation.aggregate, evaluation.deepest):
            names.setdefault((listing(measures), evaluation.deepest), []).append(name)
    return [
        f"{measures}: no ranking of {listing(runs)} has more than {counted(deepest, 'document')}"
        for (measures, deepest), runs in names.items()
    ]


def cut_at(measures: Sequence[str], depth: int | None, reranked: int | None) -> list[str]:
    """Return notices of measures that look deeper than runs, or rerankers, go."""
    lines = []
    if depth is not None and (deeper := beyond(measures, depth)):
        most = counted(depth, "document")
        lines.append(f"{listing(deeper)}: no run has more than {most} per topic")
    if reranked is not None and (deeper := beyond(measures, reranked)):
        lines.append(
            f"{listing(deeper)}: no more than {counted(reranked, 'document')} per topic were "
            "reranked; the others follow in the first stage's order"
        )
    return lines


def _counted(evaluation: Evaluation, topic: str) -> str:
    """A phrase: how topics like this one, without results, enter the means."""
    values = evaluation.per_topic
    # ir-measures' infAP, which takes ordinary judgments, counts them.
    left_out = [
        m
        for m in values
        if is_inferred(m) and topic in evaluation.sampled and topic not in values[m]
    ]
    if not left_out:
        return "they count as 0"
    explanation = f"left out of the mean of {' and '.join(left_out)}, as in TREC's own program"
    # One with sampled judgments alone has no value by other measures.
    if not any(topic in values[measure] for measure in values.keys() - set(left_out)):
        return f"they are {explanation}; tests between runs count them as 0"
    return f"they count as 0, but are {explanation}"


def _topics(topics: Sequence[str]) -> str:
    return counted(len(topics), "topic")
