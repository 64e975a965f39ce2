"""The candidates that rerankers get, with the protocol that chose them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from irplatform.retrieval.fusion import Fusion
from irplatform.retrieval.fusion_learning import learn_weights
from irplatform.runs import Ranking, Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.data import Qrels, Topic
    from irplatform.retrieval.first_stage import FirstStage

T = TypeVar("T")


@dataclass(frozen=True)
class Provenance:
    """The protocol that chose the candidates: `facts` for metadata, a `sentence` for people.

    `usual` is True if retrievers found them: then a first stage alone needs no remark.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    sentence: str = ""
    usual: bool = False


@dataclass(frozen=True)
class Candidates:
    """A collection's topics after the first stage, with candidates and judgments.

    Attributes:
        per_topic: topic id to the ids of its candidates, best first.
        collection: its name, for messages; "" takes the documents' name.
        qrels: the topics' judgments. Of evaluated topics only cross-validation reads them, and
            never a topic's own.
        validation: separate validation topics, if these are training topics.
    """

    topics: Sequence[Topic]
    first: FirstStage
    per_topic: Mapping[str, tuple[str, ...]]
    provenance: Provenance = field(default_factory=Provenance)
    collection: str = ""
    qrels: Qrels = field(default_factory=dict)
    validation: Candidates | None = None

    @property
    def most(self) -> int | None:
        """The largest number of candidates of a topic; None if all found documents are."""
        counts = {topic: len(documents) for topic, documents in self.per_topic.items()}
        rankings = self.first.final.rankings
        if all(len(rankings[topic]) <= count for topic, count in counts.items()):
            return None
        return max(counts.values())

    @property
    def judged_topics(self) -> list[Topic]:
        """The topics with judgments: some may have no relevant document."""
        return [topic for topic in self.topics if topic.id in self.qrels]

    def drawn(self, number: int | None, seed: int) -> Candidates:
        """The same, with the judgments of so many topics with a relevant document, drawn at random.

        None keeps all. Separate validation topics stay.
        """
        if number is None:
            return self
        chosen = draw(with_relevant(self.topics, self.qrels), number, seed)
        return replace(self, qrels={topic.id: self.qrels[topic.id] for topic in chosen})

    def learned_fusion(self) -> Fusion:
        """The fusion of the retrievers that suits these topics' judgments."""
        runs = self.first.runs
        return learn_weights(runs, self.qrels) if len(runs) > 1 else Fusion()

    def best_reranking(self) -> Run:
        """The first stage's run after a perfect reranking: candidates by grade, then the others.

        No reranker of these candidates scores more, by measures that reward higher grades first.
        """
        rankings = {}
        for topic, ranking in self.first.final.rankings.items():
            candidates, grades = self.per_topic[topic], self.qrels.get(topic, {})
            best = sorted(candidates, key=lambda d: -grades.get(d, 0))
            among = {*candidates}
            order = (*best, *(d for d in ranking.doc_ids if d not in among))
            rankings[topic] = Ranking.of(order, range(len(order), 0, -1))
        return self.first.cut(Run("ceiling", rankings))

    def fused(self, fusion: Fusion) -> Candidates:
        """The same candidates, in the order of another fusion of the retrievers."""
        if len(self.first.retrievals) == 1:
            return self
        first = self.first.fused(fusion)
        per_topic = {}
        for topic, doc_ids in self.per_topic.items():
            among = set(doc_ids)
            per_topic[topic] = tuple(d for d in first.final.rankings[topic].doc_ids if d in among)
        validation = self.validation and self.validation.fused(fusion)
        return replace(self, first=first, per_topic=per_topic, validation=validation)


def with_relevant(topics: Sequence[Topic], qrels: Qrels) -> list[Topic]:
    """The topics with a relevant document."""
    return [t for t in topics if any(grade > 0 for grade in qrels.get(t.id, {}).values())]


def draw(topics: Sequence[T], number: int, seed: int) -> list[T]:
    """Draw a number of topics at random; all, if there are no more. They keep their order."""
    if number >= len(topics):
        return [*topics]
    numbers = np.random.default_rng([seed, 11]).permutation(len(topics))[:number]
    return [topics[place] for place in sorted(numbers.tolist())]
