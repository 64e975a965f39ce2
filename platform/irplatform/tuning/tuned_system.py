"""The system whose options are tuned: from settings to a score for every topic.

What is learned is cross-validated on the topics, so that none is scored by a reranker, or by
weights of a fusion, that learned from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from irplatform import pipeline
from irplatform.choices import choose_systems
from irplatform.evaluation import evaluate
from irplatform.registry import source_digest
from irplatform.reranking.splits import MEMBERS
from irplatform.reranking.training_set import TrainingSource
from irplatform.retrieval.fusion import AUTO
from irplatform.storage import file_digest
from irplatform.training.distributed import training_processes
from irplatform.tuning.first_stages import FirstStages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.evaluation.judgments import Judgments
    from irplatform.plugin import Topic
    from irplatform.registry import Registry
    from irplatform.reranking.systems import RerankerChoice
    from irplatform.reranking.training_set import TrainingSet
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.first_stage import RetrieverChoice


@dataclass(frozen=True)
class TunedSystem:
    """Retrievers, and a reranker perhaps, over some judged topics.

    Attributes:
        plugins: where names are resolved.
        retrievers: names; several are fused, with weights that are learned on other topics.
        rerankers: the name of the reranker, or nothing.
        settings: options that stay as they are.
        topics: the topics.
        judgments: theirs, with the one measure that scores.
        depth: documents that each retriever finds.
        rerank_depth: how many of them are reranked.
        interpolate: the first stage's share; None chooses it in every fold.
        resources: the harness's resources.
        members: how many models of a reranker that learns are trained and averaged.
        declared: what a reranker learns from before that says so itself.
        sampled: the file of sampled judgments, where there is one.
        fusion: "auto", or "plain" where all retrievers count the same.
    """

    plugins: Registry
    retrievers: Sequence[str]
    rerankers: Sequence[str]
    settings: Mapping[str, object]
    topics: Sequence[Topic]
    judgments: Judgments
    depth: int
    rerank_depth: int
    interpolate: float | None
    resources: CollectionResources
    members: int = MEMBERS
    declared: TrainingSet | None = None
    sampled: Path | None = None
    fusion: str = AUTO

    @property
    def measure(self) -> str:
        """What scores."""
        return self.judgments.measures[0]

    def retrieving(self) -> Sequence[RetrieverChoice]:
        """The retrievers, before anything is tuned."""
        return self._chosen({})[0]

    def describe(self, settings: Mapping[str, object]) -> dict[str, Any]:
        """All options of all systems under some settings."""
        first, second = self._chosen(settings)
        return {"systems": [*(c.describe() for c in first), *(c.describe() for c in second)]}

    def depends_on(self) -> dict[str, Any]:
        """What scores depend on beside settings."""
        dependencies: dict[str, Any] = {
            "index": self.resources.index_artifact().fingerprint,
            "topics": [topic.describe() for topic in self.topics],
            "qrels": self._qrels(),
            "sampled": file_digest(self.sampled) if self.sampled else None,
            "measure": self.measure,
            "fusion": self.fusion,
            "depth": self.depth,
            "seed": self.resources.seed,
            "vectors": self.resources.source.describe(),
            "device": self.resources.device,
            "model_threads": self.resources.model_threads,
            "processes": training_processes(self.resources.device),
        }
        if self.measure in self.plugins.measures:
            dependencies["measure_source"] = source_digest(
                self.plugins.measures[self.measure].__module__
            )
        if self.declared is not None:
            dependencies["pretraining"] = self.declared.digest()
        if self.rerankers:
            dependencies |= {
                "rerank_depth": self.rerank_depth,
                "interpolate": self.interpolate,
                "members": self.members,
            }
        return dependencies

    def score(self, settings: Mapping[str, object]) -> Mapping[str, float]:
        """The measure's value for every topic; it may leave out one without results."""
        retrievers, rerankers = self._chosen(settings)
        first = self._first_stages.of(retrievers)
        run = first.cut(first.final)
        for choice in rerankers:
            candidates = pipeline.Candidates(
                self.topics, first, first.candidates(self.rerank_depth)
            )
            training_source = TrainingSource(folds=True, declared=self.declared)
            task = pipeline.RerankingTask(
                candidates, training_source, self._qrels(), self.interpolate
            )
            run = pipeline.rerank(choice, task, self.resources).final
        evaluation = evaluate(
            {topic: self.judgments.qrels[topic] for topic in self._qrels()},
            run,
            [self.measure],
            extra=self.plugins.measures,
            sampled=self.judgments.sampled,
        )
        return next(iter(evaluation.per_topic.values()))

    @cached_property
    def _first_stages(self) -> FirstStages:
        return FirstStages(self.topics, self._qrels(), self.depth, self.fusion, self.resources)

    def _qrels(self) -> dict[str, dict[str, float]]:
        """The topics' ordinary judgments; a topic may have sampled ones alone."""
        qrels = self.judgments.qrels
        return {topic.id: dict(qrels[topic.id]) for topic in self.topics if topic.id in qrels}

    def _chosen(
        self, settings: Mapping[str, object]
    ) -> tuple[Sequence[RetrieverChoice], Sequence[RerankerChoice]]:
        return choose_systems(
            self.plugins,
            self.retrievers,
            self.rerankers,
            {**self.settings, **settings},
            members=self.members,
        )
