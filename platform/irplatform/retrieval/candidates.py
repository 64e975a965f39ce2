"""The candidates that rerankers get: what a first stage found for topics, and how."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from irplatform.files.code_digests import our_digest
from irplatform.files.digests import fingerprint
from irplatform.files.facts import kept_fact
from irplatform.retrieval.fusion import Fusion
from irplatform.runs import Ranking, Run
from irplatform.runs.fusion.ranks import Ranks
from irplatform.runs.names import FUSED
from irplatform.runs.run import Later

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from irplatform.data import Qrels, Topic
    from irplatform.retrieval.retrievers import RetrievedRun

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
        retrieved: the runs of the retrievers, or the one that takes their place.
        first: the start of rerankers: the only run, or the fusion of all, with every document; of
            a run file, all of it.
        fingerprint: of all that the runs depend on.
        per_topic: topic id to the ids of its candidates, best first.
        depth: most documents of a run per topic; None if all candidates are ranked.
        fusion: how the runs were fused, if that was chosen.
        name: the collection's, for messages; "" takes the documents' name.
        qrels: the topics' judgments. Of evaluated topics only cross-validation reads them, and
            never a topic's own.
        validation: separate validation topics, if these are training topics.
        rerank_depth: how many documents of each run are candidates, if that decides it.
    """

    topics: Sequence[Topic]
    retrieved: Sequence[RetrievedRun]
    first: Run
    fingerprint: str
    per_topic: Mapping[str, tuple[str, ...]]
    depth: int | None = None
    fusion: Fusion | None = None
    provenance: Provenance = field(default_factory=Provenance)
    name: str = ""
    qrels: Qrels = field(default_factory=dict)
    validation: Candidates | None = None
    rerank_depth: int | None = None

    @classmethod
    def of(
        cls,
        topics: Sequence[Topic],
        retrieved: Sequence[RetrievedRun],
        rerank_depth: int,
        depth: int | None = None,
        qrels: Qrels | None = None,
    ) -> Candidates:
        """The union of the first `rerank_depth` documents of runs, in the order of their fusion."""
        runs = [of_retriever.run for of_retriever in retrieved]
        first, key = runs[0], retrieved[0].fingerprint
        if len(retrieved) > 1:
            first = _fused(Fusion(), runs)
            key = fingerprint({"fused": [r.fingerprint for r in retrieved]})

        def per_topic() -> dict[str, tuple[str, ...]]:
            unions = {
                topic.id: {d for run in runs for d in run.rankings[topic.id].doc_ids[:rerank_depth]}
                for topic in topics
            }
            return _in_order(unions, first)

        return cls(
            topics,
            retrieved,
            first,
            key,
            Later(per_topic),
            depth,
            qrels=qrels or {},
            rerank_depth=rerank_depth,
        )

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that topics and candidates depend on, without reading any run."""
        selection: dict[str, Any] = {"rerank depth": self.rerank_depth}
        if self.rerank_depth is None:
            selection = {"candidates": fingerprint({**self.per_topic})}
        return {
            "runs": self.fingerprint,
            "topics": fingerprint({"topics": [topic.describe() for topic in self.topics]}),
            "depth": self.depth,
            **selection,
        }

    def identity_of(self, run: str) -> str:
        """What stands for all that a run of these topics depends on; `run` tells it from others."""
        return fingerprint({**self.identity, "of": run, "code": our_digest()})

    @cached_property
    def judged_identity(self) -> dict[str, Any]:
        """The same with judgments and validation topics."""
        return {
            **self.identity,
            "qrels": fingerprint({topic: dict(grades) for topic, grades in self.qrels.items()}),
            "validation": self.validation and self.validation.judged_identity,
        }

    @property
    def runs(self) -> list[Run]:
        """The retrievers' runs."""
        return [of_retriever.run for of_retriever in self.retrieved]

    @property
    def artifacts(self) -> dict[str, str]:
        """Fingerprints of the artifacts of all runs."""
        return {name: digest for r in self.retrieved for name, digest in r.artifacts.items()}

    @property
    def most(self) -> int | None:
        """The largest number of candidates of a topic; None if all documents of its runs are."""

        def most() -> int | None:
            counts = {topic: len(documents) for topic, documents in self.per_topic.items()}
            rankings = self.cut(self.first).rankings
            if all(len(rankings[topic]) <= count for topic, count in counts.items()):
                return None
            return max(counts.values())

        return kept_fact("check", self.name, {"most": self.identity}, most)

    @property
    def judged_topics(self) -> list[Topic]:
        """The topics with judgments: some may have no relevant document."""
        return [topic for topic in self.topics if topic.id in self.qrels]

    def describe(self) -> list[Mapping[str, Any]]:
        """The parts of `first`, for the metadata of runs."""
        fusion = [{"fusion": self.fusion.describe()}] if self.fusion else []
        return [*(of_retriever.description for of_retriever in self.retrieved), *fusion]

    def cut(self, run: Run) -> Run:
        """A run as it is written and scored, no deeper than `depth`."""
        return run if self.depth is None else run.top(self.depth)

    def drawn(self, number: int | None, seed: int) -> Candidates:
        """The same, with the judgments of so many topics with a relevant document, drawn at random.

        None keeps all. Separate validation topics stay.
        """
        if number is None:
            return self
        topics = draw(with_relevant(self.topics, self.qrels), number, seed)
        return replace(self, qrels={topic.id: self.qrels[topic.id] for topic in topics})

    def learned_fusion(self) -> Fusion:
        """The fusion of the retrievers that suits these topics' judgments."""
        if len(self.runs) < 2:
            return Fusion()

        def learned() -> dict[str, Any]:
            from irplatform.retrieval.fusion_learning import learn_weights

            fusion = learn_weights(self.runs, self.qrels, Ranks())
            method = {"weights": fusion.method.weights, **fusion.method.parameters}
            return {"method": method, "topics": fusion.topics}

        depends_on = {"code": our_digest(), "fusion": self.judged_identity}
        fact = kept_fact("result", f"{self.name}-fusion", depends_on, learned)
        weights = tuple(fact["method"].pop("weights"))
        return Fusion(Ranks(weights=weights, **fact["method"]), fact["topics"])

    def best_reranking(self) -> Run:
        """The first stage's run after a perfect reranking: candidates by grade, then the others.

        No reranker of these candidates scores more, by measures that reward higher grades first.
        """

        def rankings() -> dict[str, Ranking]:
            return {topic: self._at_best(topic) for topic in self.first.rankings}

        return self.cut(Run("ceiling", Later(rankings)))

    def _at_best(self, topic: str) -> Ranking:
        candidates, grades = self.per_topic[topic], self.qrels.get(topic, {})
        best = sorted(candidates, key=lambda doc_id: -grades.get(doc_id, 0))
        reranked = {*candidates}
        ranking = self.first.rankings[topic]
        order = (*best, *(d for d in ranking.doc_ids if d not in reranked))
        return Ranking.of(order, range(len(order), 0, -1))

    def fused(self, fusion: Fusion) -> Candidates:
        """The same candidates, in the order of another fusion of the retrievers."""
        if len(self.retrieved) == 1:
            return self
        key = fingerprint({"runs": self.fingerprint, "fusion": fusion.describe()})
        return replace(
            self.ranked_by(_fused(fusion, self.runs), key),
            fusion=fusion,
            validation=self.validation and self.validation.fused(fusion),
        )

    def ranked_by(self, first: Run, key: str) -> Candidates:
        """The same candidates, in the order of another run that has all; `key` identifies it."""
        per_topic = Later(partial(_in_order, self.per_topic, first))
        return replace(self, first=first, fingerprint=key, per_topic=per_topic)


def _fused(fusion: Fusion, runs: Sequence[Run]) -> Run:
    return Run(FUSED, Later(lambda: fusion.fuse(runs, FUSED).rankings))


def _in_order(per_topic: Mapping[str, Collection[str]], first: Run) -> dict[str, tuple[str, ...]]:
    """The candidates of topics, in the order of a run."""
    sets = {topic: frozenset(doc_ids) for topic, doc_ids in per_topic.items()}
    return {
        topic: tuple(d for d in first.rankings[topic].doc_ids if d in doc_ids)
        for topic, doc_ids in sets.items()
    }


def with_relevant(topics: Sequence[Topic], qrels: Qrels) -> list[Topic]:
    """The topics with a relevant document."""
    return [t for t in topics if any(grade > 0 for grade in qrels.get(t.id, {}).values())]


def draw(topics: Sequence[T], number: int, seed: int) -> list[T]:
    """Draw a number of topics at random; all, if there are no more. They keep their order."""
    if number >= len(topics):
        return [*topics]
    numbers = np.random.default_rng([seed, 11]).permutation(len(topics))[:number]
    return [topics[place] for place in sorted(numbers.tolist())]
