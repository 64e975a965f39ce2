"""The tuned system as a function from settings to a score for every topic.

Rerankers and fusion weights are cross-validated: no model scores a topic that it learned from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from irplatform.evaluation.scoring import evaluate
from irplatform.experiment.systems import choose_systems
from irplatform.files.digests import file_digest, fingerprint
from irplatform.registry.live_code import function_digest
from irplatform.reranking.rerank import rerank
from irplatform.reranking.systems import MEMBERS
from irplatform.reranking.training_set import FOLDS, LearningPlan, fold_topics
from irplatform.retrieval.candidates import Candidates
from irplatform.retrieval.fusion import AUTO, Fusion
from irplatform.retrieval.fusion_learning import learn_weights
from irplatform.retrieval.retrievers import RetrievedRun, checked_run, ranked_run
from irplatform.runs import Run
from irplatform.training.topic_identity import families

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Topic
    from irplatform.evaluation.judgments import Judgments
    from irplatform.registry.lookup import Registry
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.reranking.training_set import TrainingSet
    from irplatform.retrieval.retrievers import ChosenRetriever
    from irplatform.runs import Ranking


_RUNS_KEPT = 4


@dataclass(frozen=True)
class TunedSystem:
    """Retrievers, and perhaps a reranker, over some judged topics.

    `settings` stay fixed. The one measure of `judgments` scores. Without `interpolate`, every fold
    chooses the first stage's weight. `declared` is the training set of pre-training. Where there
    are `pools`, retrievers rank these documents, by topic id. Rerankers are cross-validated in
    `folds`, and fusion weights in five.
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
    preset: str | None = None
    pools: Mapping[str, Sequence[str]] | None = None
    folds: int = FOLDS

    @property
    def measure(self) -> str:
        """The measure that scores."""
        return self.judgments.measures[0]

    def retrieving(self) -> Sequence[ChosenRetriever]:
        """Return the retrievers, before anything is tuned."""
        return self._systems({})[0]

    def describe(self, settings: Mapping[str, object]) -> dict[str, Any]:
        """Return all options of all systems under some settings."""
        first, second = self._systems(settings)
        return {"systems": [*(c.describe() for c in first), *(c.describe() for c in second)]}

    def depends_on(self) -> dict[str, Any]:
        """Return what scores depend on in addition to settings."""
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
            "processes": 1,  # so that trials of earlier versions are found
        }
        if self.measure in self.plugins.measures:
            dependencies["measure_source"] = function_digest(self.plugins.measures[self.measure])
        if self.declared is not None:
            dependencies["pretraining"] = self.declared.fingerprint
        if self.rerankers:
            dependencies |= {
                "rerank_depth": self.rerank_depth,
                "interpolate": self.interpolate,
                "members": self.members,
            }
        if self.pools is not None:
            dependencies["among"] = {topic.id: self.pools[topic.id] for topic in self.topics}
        if self.rerankers and self.folds != FOLDS:
            dependencies["folds"] = self.folds
        return dependencies

    def score(self, settings: Mapping[str, object]) -> Mapping[str, float]:
        """Score every topic; topics without results may be left out."""
        retrievers, rerankers = self._systems(settings)
        candidates = self._first_stages.of(retrievers)
        run = candidates.cut(candidates.first)
        for choice in rerankers:
            learning = LearningPlan(
                folds=True,
                fold_count=self.folds,
                declared=self.declared,
                interpolate=self.interpolate,
            )
            run = rerank(choice, candidates, learning, self.resources).final
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
        rerank_depth = self.rerank_depth if self.rerankers else 0
        return FirstStages(
            self.topics,
            self._qrels(),
            self.depth,
            rerank_depth,
            self.fusion,
            self.resources,
            self.pools,
        )

    def _qrels(self) -> dict[str, dict[str, float]]:
        """The topics' ordinary judgments; a topic may have sampled ones only."""
        qrels = self.judgments.qrels
        return {topic.id: dict(qrels[topic.id]) for topic in self.topics if topic.id in qrels}

    def _systems(
        self, settings: Mapping[str, object]
    ) -> tuple[Sequence[ChosenRetriever], Sequence[ChosenReranker]]:
        return choose_systems(
            self.plugins,
            self.retrievers,
            self.rerankers,
            {**self.settings, **settings},
            self.preset,
            members=self.members,
        )


@dataclass
class FirstStages:
    """First stages over some judged topics; the last runs stay in memory, not in the cache."""

    topics: Sequence[Topic]
    qrels: Mapping[str, Mapping[str, float]]
    depth: int
    rerank_depth: int
    fusion: str
    resources: CollectionResources
    pools: Mapping[str, Sequence[str]] | None = None
    _runs: dict[str, Run] = field(default_factory=dict)
    _last_fused: tuple[str, Candidates] | None = None

    def of(self, choices: Sequence[ChosenRetriever]) -> Candidates:
        """Search with retrievers, and fuse several."""
        retrieved = []
        for choice in choices:
            mark = fingerprint(choice.describe())
            run = self._runs.pop(mark, None)
            if run is None:
                search = partial(checked_run, choice, resources=self.resources)
                run = ranked_run(search, self.topics, self.depth, self.pools, self.resources)
            self._runs[mark] = run  # at the end: used last
            retrieved.append(RetrievedRun(run, mark))
        for old_mark in list(self._runs)[: -max(_RUNS_KEPT, len(choices))]:
            del self._runs[old_mark]
        depths: tuple[int, int | None] = (self.rerank_depth, self.depth)
        if self.pools is not None:  # all of them are ranked
            depths = max(map(len, self.pools.values())), None
        candidates = Candidates.of(self.topics, retrieved, *depths, self.qrels)
        if len(retrieved) == 1:
            return candidates
        if self.fusion != AUTO:
            fusion = Fusion.of(self.fusion)
            return candidates if fusion == Fusion() else candidates.fused(fusion)
        # While only a reranker's options vary, the first stage stays the same.
        if self._last_fused is None or self._last_fused[0] != candidates.fingerprint:
            self._last_fused = candidates.fingerprint, self._fused(candidates)
        return self._last_fused[1]

    def _fused(self, candidates: Candidates) -> Candidates:
        """The runs, fused for every topic with weights learned on other folds."""
        topic_families = families(self.topics)
        fusions: list[dict[str, Any]] = []
        rankings: dict[str, Ranking] = {}
        for split in fold_topics(self.topics, FOLDS, self.resources.seed, topic_families):
            fusion = learn_weights(_of_topics(candidates.runs, split.training), self.qrels)
            runs = _of_topics(candidates.runs, split.validation)
            rankings |= fusion.fuse(runs, candidates.first.name).rankings
            fusions.append(fusion.describe())
        first = Run(candidates.first.name, {t.id: rankings[t.id] for t in self.topics})
        key = fingerprint({"runs": candidates.fingerprint, "fusions": fusions})
        return candidates.ranked_by(first, key)


def _of_topics(runs: Sequence[Run], topics: Sequence[Topic]) -> list[Run]:
    return [Run(run.name, {topic.id: run.rankings[topic.id] for topic in topics}) for run in runs]
