"""The parts of a run that are more than a call: searching, learning, reranking.

`api.run` tells the story; this module holds its chapters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from irplatform.collections import irds
from irplatform.collections.checks import refuse_broken, warning_of_abstracts
from irplatform.console import notice, speaking_of
from irplatform.errors import InputError, listing
from irplatform.reranking.evaluated_topics import warning_of_learned
from irplatform.reranking.fitting import fit_system, open_checkpoint
from irplatform.reranking.interpolation import Reranked
from irplatform.reranking.scoring import Values, score_topics
from irplatform.reranking.splits import fold_topics, seeds_of
from irplatform.reranking.systems import RerankerChoice, System
from irplatform.reranking.training_set import Example, TrainingSet, examples
from irplatform.retrieval import is_indexed
from irplatform.retrieval.candidates import CandidateSource, Provenance, Request, Retrieved
from irplatform.retrieval.candidates.source import missing_documents
from irplatform.runs import Run
from irplatform.runs.scores import alone as alone_name
from irplatform.storage import artifact, fingerprint, home
from irplatform.training.checkpoints import Checkpoint
from irplatform.training.topic_marks import families

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.collections import Collection, Qrels
    from irplatform.plugin import Topic
    from irplatform.reranking.training_set import TrainingSource
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.first_stage import FirstStage, RetrieverChoice
    from irplatform.retrieval.fusion import Fusion

FOLDS = 5
"""Of cross-validation over a collection's own topics."""
_MISSING = "missing.json"


@dataclass(frozen=True)
class Candidates:
    """A collection's topics after the first stage.

    Attributes:
        topics: the topics.
        first: what the first stage found.
        per_topic: topic id to the ids of its candidates, best first.
        provenance: which protocol chose them.
        collection: whose topics these are, for messages; "" takes the documents' name.
    """

    topics: Sequence[Topic]
    first: FirstStage
    per_topic: Mapping[str, tuple[str, ...]]
    provenance: Provenance = field(default_factory=Provenance)
    collection: str = ""

    def examples(self, qrels: Qrels, resources: CollectionResources) -> list[Example]:
        """The judged topics to learn from; judgments of documents that are not there are left out.

        Official judgments name documents that a copy of the corpus lacks. Measures count them, but
        nothing can be learned from what cannot be read.
        """
        judged = {topic.id: qrels[topic.id] for topic in self.topics if topic.id in qrels}
        missing = self._missing(judged, resources)
        if missing:
            among = len({doc_id for grades in judged.values() for doc_id in grades})
            resources.notice(
                f"{len(missing):,} of the {among:,} judged documents of "
                f"'{self.collection or resources.corpus.name}' are not among its documents "
                f"({listing(sorted(missing))}): nothing is learned from them"
            )
        return examples(self.topics, judged, self.first.final.rankings, self.per_topic, missing)

    def _missing(self, judged: Qrels, resources: CollectionResources) -> frozenset[str]:
        """The judged documents that do not exist; the index is asked once, and not for candidates.

        What is kept depends on index and judgments alone, so that a run that finds everything in
        the cache need not open the index, whatever its first stage.
        """
        if all(set(grades) <= set(self.per_topic[topic]) for topic, grades in judged.items()):
            return frozenset()
        doc_ids = sorted({doc_id for grades in judged.values() for doc_id in grades})

        def look(folder: Path) -> None:
            found = sorted(missing_documents([doc_ids], resources))
            (folder / _MISSING).write_text(json.dumps(found), encoding="utf-8")

        index = resources.index_artifact().fingerprint
        depends_on = {"format": 1, "index": index, "judged": fingerprint({"ids": doc_ids})}
        looked = artifact("check", f"{resources.corpus.name}-judged", depends_on, look)
        return frozenset(json.loads((looked.path / _MISSING).read_text(encoding="utf-8")))

    def fused(self, fusion: Fusion) -> Candidates:
        """The same candidates, in the order of another fusion of the retrievers."""
        if len(self.first.runs) == 1:
            return self
        first = self.first.fused(fusion)
        per_topic = {}
        for topic, held in self.per_topic.items():
            among = set(held)
            per_topic[topic] = tuple(d for d in first.final.rankings[topic].doc_ids if d in among)
        return replace(self, first=first, per_topic=per_topic)


def refuse_silent_downloads(collection: Collection, name: str) -> None:
    """Refuse to begin what would download gigabytes that nobody asked for.

    Raises:
        InputError: what is missing, from where, how much, and what to do.
    """
    if "ir_datasets id" in collection.metadata:
        documents = not is_indexed(collection.corpus)
        irds.refuse_silent_downloads(collection, name, documents=documents)


def refuse_broken_corpus(
    collection: Collection, qrels: Qrels | None, resources: CollectionResources
) -> str:
    """Index the corpus, and see that it is whole; a corpus that passed once is not looked at again.

    Returns:
        What the user is warned of, or "".

    Raises:
        InputError: many documents are empty, or many relevant ones are missing.
    """
    judged = {topic: dict(grades) for topic, grades in (qrels or {}).items()}
    index = resources.index_artifact().fingerprint

    def look(folder: Path) -> None:
        opened = resources.index()
        stats = opened.stats()
        refuse_broken(
            collection,
            qrels,
            contains=opened.contains,
            documents=stats["documents"],
            empty=stats["documents"] - stats["non_empty_documents"],
        )
        warning = warning_of_abstracts(
            collection,
            documents=stats["documents"],
            titles=opened.documents_with("title"),
            abstracts=opened.documents_with("abstract"),
        )
        (folder / "warning.txt").write_text(warning, encoding="utf-8")

    depends_on = {"format": 2, "index": index, "qrels": fingerprint(judged)}
    with resources.timed("index"):
        looked = artifact("check", collection.id, depends_on, look)
    if warning := (looked.path / "warning.txt").read_text(encoding="utf-8"):
        notice(warning)
    return warning


def search(
    collection: Collection,
    retrievers: Sequence[RetrieverChoice],
    depth: int,
    rerank_depth: int,
    resources: CollectionResources,
    *,
    source: CandidateSource | None = None,
    names: Sequence[str] = (),
) -> Candidates:
    """Find candidates for all topics of a collection.

    Args:
        collection: whose topics.
        retrievers: the first stage.
        depth: documents that each retriever finds per topic.
        rerank_depth: how many of them are candidates.
        resources: the harness's resources.
        source: where candidates come from; by default what the retrievers find.
        names: the rerankers', which a run file that is the first stage must not be called.

    Raises:
        InputError: the source does not fit the collection.
    """
    topics = list(collection.load_topics())
    asked = Request(collection, topics, retrievers, depth, rerank_depth, resources, names)
    found = (source or Retrieved()).find(asked)
    return Candidates(topics, found.first, found.per_topic, found.provenance, collection.id)


@dataclass(frozen=True)
class RerankedRun:
    """What a reranker made of the candidates.

    Attributes:
        alone: the run of the reranker's scores.
        final: the run of both scores, mixed with `weight`.
        weight: the first stage's share; the mean where folds chose their own.
        systems: the systems that made it: one, or one per fold.
        warnings: what a reader of its scores must know.
    """

    alone: Run
    final: Run
    weight: float
    systems: Sequence[System]
    warnings: Sequence[str] = ()

    def with_suffix(self, suffix: str) -> RerankedRun:
        """The same, under longer names."""
        final = f"{self.final.name}{suffix}"
        return replace(
            self, alone=self.alone.renamed(alone_name(final)), final=self.final.renamed(final)
        )


def rerank(
    choice: RerankerChoice,
    candidates: Candidates,
    qrels: Qrels | None,
    training_source: TrainingSource,
    interpolate: float | None,
    resources: CollectionResources,
) -> RerankedRun:
    """Fit a reranker and rank all topics with it.

    Args:
        choice: the reranker.
        candidates: the evaluated topics.
        qrels: their judgments; only cross-validation looks at them, and never at a topic's own.
        training_source: what to learn from.
        interpolate: the first stage's share, or None to choose it on validation topics.
        resources: the harness's resources.
    """
    resources = resources_with(training_source, choice, resources)
    warning = warning_of_learned(choice, candidates.topics, training_source, interpolate)
    if warning:
        resources.notice(warning)
    with resources.timed("train"):
        assignments = assign(choice, candidates, qrels, training_source, resources)
    alone, final = {}, {}
    for system, topics in assignments:
        with resources.timed("rerank"):
            scores = _score(system, topics, candidates, resources)
        weight = system.weight if interpolate is None else interpolate
        for topic in topics:
            held = candidates.per_topic[topic.id]
            both = Reranked.of(
                candidates.first.final.rankings[topic.id], held, scores[topic.id].tolist()
            )
            alone[topic.id], final[topic.id] = both.mixed(0.0), both.mixed(weight)
    weights = [s.weight if interpolate is None else interpolate for s, _ in assignments]
    order = [topic.id for topic in candidates.topics]
    return RerankedRun(
        Run(alone_name(choice.name), {t: alone[t] for t in order}),
        Run(choice.name, {t: final[t] for t in order}),
        sum(weights) / len(weights),
        [system for system, _ in assignments],
        (warning,) if warning else (),
    )


def rerank_with_seeds(
    choice: RerankerChoice,
    candidates: Candidates,
    qrels: Qrels | None,
    training_source: TrainingSource,
    interpolate: float | None,
    resources: CollectionResources,
    count: int,
) -> Iterator[tuple[RerankedRun, CollectionResources]]:
    """Fit a reranker and rank all topics with it, once for each of several seeds.

    Args:
        choice: the reranker; one that does not learn ranks once.
        candidates: see `rerank`.
        qrels: see `rerank`.
        training_source: see `rerank`.
        interpolate: see `rerank`.
        resources: the harness's resources; the first seed is theirs.
        count: how many seeds; where there are several, the names of the runs carry them, and so
            does every line that is told meanwhile.

    Yields:
        The runs of a seed, and the resources that they were made with.
    """
    seeds = seeds_of(resources.seed, count if choice.trainable else 1)
    several = len(seeds) > 1
    for seed in seeds:
        seeded = replace(resources, seed=seed)
        with speaking_of(f"seed {seed}" if several else ""):
            made = rerank(choice, candidates, qrels, training_source, interpolate, seeded)
        yield (made.with_suffix(f"-seed{seed}") if several else made), seeded


def resources_with(
    training_source: TrainingSource, choice: RerankerChoice, resources: CollectionResources
) -> CollectionResources:
    """The resources, with a checkpoint's own word vectors where it is loaded."""
    if training_source.checkpoint is None or not choice.trainable:
        return resources
    return resources.with_vectors(Checkpoint.read(training_source.checkpoint).vectors)


def assign(
    choice: RerankerChoice,
    candidates: Candidates,
    qrels: Qrels | None,
    training_source: TrainingSource,
    resources: CollectionResources,
) -> list[tuple[System, Sequence[Topic]]]:
    """Fit what has to be fitted, and say which system scores which topics."""
    if training_source.checkpoint is not None and choice.trainable:
        system = open_checkpoint(choice, training_source.checkpoint, resources)
        return [(system, candidates.topics)]
    if training_source.training_set is not None:
        system = fit_system(
            choice, training_source.training_set, resources, training_source.pretraining_of(choice)
        )
        return [(system, candidates.topics)]
    judged = candidates.examples(qrels or {}, resources)
    if not training_source.folds or not judged:
        member = choice.create(resources)
        mark = fingerprint(choice.describe())
        return [(System(choice, [member], 0.0, mark, {}), candidates.topics)]
    assigned: list[tuple[System, Sequence[Topic]]] = []
    unjudged = [t for t in candidates.topics if t.id not in (qrels or {})]
    kin = families([example.topic for example in judged])
    for number, split in enumerate(fold_topics(judged, FOLDS, resources.seed, kin)):
        training_set = TrainingSet(f"fold {number + 1} of {FOLDS}", split.training)
        topics = [e.topic for e in split.validation] + (unjudged if number == 0 else [])
        before = training_source.pretraining_of(choice)
        assigned.append((fit_system(choice, training_set, resources, before), topics))
    return assigned


def _score(
    system: System,
    topics: Sequence[Topic],
    candidates: Candidates,
    resources: CollectionResources,
) -> dict[str, Values]:
    """Score topics, with a journal in the cache that an interrupted run goes on from."""
    depends_on = {
        "system": system.fingerprint,
        "first": candidates.first.fingerprint,
        "corpus": resources.corpus.fingerprint,
        "candidates": [[*t.describe(), candidates.per_topic[t.id]] for t in topics],
        "vectors": resources.source.describe(),
        "seed": resources.seed,
        "device": resources.device,
        "model_threads": resources.model_threads,
    }
    journal = home() / "journal" / f"{system.choice.name}-{fingerprint(depends_on)}.jsonl"
    journal.parent.mkdir(parents=True, exist_ok=True)
    if not resources.resume:
        journal.unlink(missing_ok=True)
    scores = score_topics(
        system.choice.registration,
        system.members,
        topics,
        candidates.per_topic,
        resources,
        journal,
    )
    journal.unlink(missing_ok=True)
    return scores


def apply_checkpoint(
    checkpoint: Path | None, rerankers: Sequence[RerankerChoice]
) -> list[RerankerChoice]:
    """The rerankers, the one that a checkpoint belongs to with the options it was trained with.

    Raises:
        InputError: it is no checkpoint, or of another reranker, or several rerankers learn.
    """
    if checkpoint is None:
        return list(rerankers)
    trainable = [choice for choice in rerankers if choice.trainable]
    if len(trainable) != 1:
        raise InputError("--checkpoint needs exactly one reranker that learns.")
    recorded = Checkpoint.read(checkpoint, of=trainable[0].name).options
    return [choice.as_trained(recorded) if choice.trainable else choice for choice in rerankers]


__all__ = [
    "FOLDS",
    "Candidates",
    "RerankedRun",
    "apply_checkpoint",
    "assign",
    "refuse_broken_corpus",
    "refuse_silent_downloads",
    "rerank",
    "rerank_with_seeds",
    "resources_with",
    "search",
]
