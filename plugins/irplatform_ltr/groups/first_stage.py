"""Retrievers' scores and ranks of documents, over the whole collection and by part of the query.

Each retriever searches to a fixed depth, so that a document's features do not depend on the other
candidates. A document that it does not find gets its last score, and a rank twice as deep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from irplatform.kit import BM25, ForwardIndex
from irplatform.plugin import (
    Documents,
    FeatureGroup,
    Field,
    NamedSystem,
    Options,
    Reads,
    Resources,
    Retriever,
    Topic,
    Traits,
)
from irplatform_ltr.matching import ExpansionOptions, KnowledgeFeatures, relative

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from irplatform.kit import Expander, Float32
    from irplatform.plugin import Ranking


class FirstStageOptions(Options):
    """Options of the first-stage scores."""

    retrievers: tuple[str, ...] = Field(("bm25", "rm3"), description="retrievers to take scores of")
    settings: dict[str, dict[str, Any]] = Field({}, description="their options, by name")
    depth: int = Field(1000, gt=0, description="how many documents they find")


class FirstStage(FeatureGroup):
    """Scores and ranks of documents by several retrievers."""

    Options = FirstStageOptions
    options: FirstStageOptions
    _resources: Resources
    _retrievers: dict[str, Retriever]

    def traits(self) -> Traits:
        return Traits(weighs_first_stage=True)

    def reads(self) -> Reads:
        names, settings = self.options.retrievers, self.options.settings
        return Reads(
            systems=NamedSystem.several("retriever", names, settings, named_in="retrievers")
        )

    def prepare(self, resources: Resources) -> None:
        self._resources = resources
        self._retrievers = {
            name: resources.retriever(name, self.options.settings.get(name))
            for name in self.options.retrievers
        }

    def names(self) -> tuple[str, ...]:
        kinds = ("score", "share", "rank")
        return tuple(f"{name}_{kind}" for name in self.options.retrievers for kind in kinds)

    def prepared_with(self) -> Mapping[str, object]:
        """Seed, device and threads of models, of retrievers whose rankings depend on them."""
        device, seed = self._resources.device, self._resources.seed
        threads = self._resources.model_threads
        traits = {name: retriever.traits() for name, retriever in self._retrievers.items()}
        return {
            name: {
                **({"device": device} if of.on_device and device != "cpu" else {}),
                **({"model_threads": threads} if of.on_device else {}),
                **({"seed": seed} if of.seeded else {}),
            }
            for name, of in traits.items()
            if of.seeded or of.on_device
        }

    def compute_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Float32]:
        ForwardIndex.refuse_texts("rank in a search of the collection (features 'first-stage')")
        searches, depth = _searches(topic for topic, _ in batch), self.options.depth
        parts: list[list[Float32]] = [[] for _ in batch]
        for retriever in self._retrievers.values():
            runs = [
                (topics, retriever.retrieve(list(topics.values()), depth, self._resources))
                for topics in searches
            ]
            for columns, (topic, documents) in zip(parts, batch, strict=True):
                run = next(run for topics, run in runs if topics.get(topic.id) == topic)
                columns.append(_columns(run.rankings[topic.id], documents.ids, depth))
        return [np.hstack(columns) for columns in parts]


def _searches(topics: Iterable[Topic]) -> list[dict[str, Topic]]:
    """The topics by id; two searches where training and validation topics share ids."""
    searches: list[dict[str, Topic]] = []
    for topic in topics:
        if not any(search.setdefault(topic.id, topic) == topic for search in searches):
            searches.append({topic.id: topic})
    return searches


def _columns(ranking: Ranking, doc_ids: Sequence[str], depth: int) -> Float32:
    scores = dict(zip(ranking.doc_ids, ranking.scores.tolist(), strict=True))
    ranks = {doc_id: rank for rank, doc_id in enumerate(ranking.doc_ids, start=1)}
    last = float(ranking.scores[-1]) if len(ranking) else 0.0
    best = float(ranking.scores[0]) if len(ranking) else 0.0
    score = np.array([scores.get(d, last) for d in doc_ids], dtype=np.float64)
    rank = np.array([ranks.get(d, 2 * depth + 1) for d in doc_ids], dtype=np.float64)
    share = score / best if best > 0 else np.zeros(len(doc_ids))
    return np.asarray(np.stack([score, share, np.log1p(rank)], axis=1), dtype=np.float32)


PARTS = (
    "disease.weight", "disease.title", "disease.heading",
    "gene.weight", "gene.title", "gene.variant", "gene.alteration", "gene.altered", "gene.mutated",
    "gene.words", "gene.words_title", "gene.phrase",
    "near.both", "near.weight",
    "context.treatment_weight", "context.treatment_title", "context.prognosis_weight",
    "context.prognosis_title", "context.people_weight", "context.headings_weight",
    "context.humans", "context.drugs",
    "text.weight", "text.phrase",
)  # fmt: skip
"""Parts of the plan, by their settings; a topic that lacks one has 0 there."""


class QueryPartsOptions(ExpansionOptions):
    """Options of the parts of the query."""

    k1: float = Field(0.9, ge=0, description="of BM25")
    b: float = Field(0.4, ge=0, le=1, description="of BM25")


class ScoresOfParts(KnowledgeFeatures):
    """The base of groups of Lucene's scores of queries, for settings of the plan (`parts`)."""

    Options = QueryPartsOptions
    options: QueryPartsOptions
    parts: ClassVar[tuple[str, ...]]

    def names(self) -> tuple[str, ...]:
        names = self._query_names()
        return (*names, *(f"{name}_share" for name in names))

    def compute_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Float32]:
        ForwardIndex.refuse_texts("scores of Lucene (features 'query-parts' and 'treatment')")
        index, threads = self._resources.index(), self._resources.threads
        similarity = BM25(self.options.k1, self.options.b)
        expander = self.options.expander(self._resources)
        queries = []
        with self._resources.progress("expanding", len(batch), "topics") as advance:
            for topic, _ in batch:
                queries.append(self._queries(topic, expander))
                advance(1)
        requests = [
            (docs.ids, topic_queries)
            for (_, docs), topic_queries in zip(batch, queries, strict=True)
        ]
        everything = [query for topic_queries in queries for query in topic_queries]
        best = index.best_scores(everything, similarity, threads).reshape(len(batch), -1)
        scores = index.scores(requests, similarity, threads)
        return [
            np.hstack([values, relative(values, top)])
            for values, top in zip(scores, best, strict=True)
        ]

    def _query_names(self) -> tuple[str, ...]:
        return self.parts

    def _queries(self, topic: Topic, expander: Expander) -> list[Any]:
        expressions = {part.setting: part.expression for part in expander.components(topic)}
        return [
            expander.compiled(expressions[name]) if name in expressions else None
            for name in self.parts
        ]


class QueryParts(ScoresOfParts):
    """Scores of the expanded query and its parts, which the first stage sums with fixed weights."""

    parts = PARTS

    def traits(self) -> Traits:
        return Traits(weighs_first_stage=True)

    def _query_names(self) -> tuple[str, ...]:
        return ("query", *self.parts)

    def _queries(self, topic: Topic, expander: Expander) -> list[Any]:
        return [expander.query(topic), *super()._queries(topic, expander)]


class Treatment(ScoresOfParts):
    """Scores of the expanded query's parts for a treatment, as topics of TREC PM 2020 name."""

    parts = ("treatment.weight", "treatment.title", "treatment.heading", "treatment.named")

    def lacks(self, topics: Sequence[Topic]) -> str:
        return self.options.lacking(topics, (self.options.plan.treatment.field,))
