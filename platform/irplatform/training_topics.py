"""Where rerankers learn from: training collections, the topics' own folds, pre-training.

Everything is found and checked here before `pipeline.rerank` fits anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from irplatform.choices import choose_systems
from irplatform.collections.joined import joined
from irplatform.collections.mesh import FIELD as MESH_FIELD
from irplatform.collections.mesh import check_headings, mesh_queries
from irplatform.console import notice
from irplatform.errors import InputError
from irplatform.pipeline import FOLDS, Candidates, search
from irplatform.reranking.splits import MEMBERS
from irplatform.reranking.training_set import TrainingSet
from irplatform.retrieval.candidates import CandidateSource, Retrieved
from irplatform.retrieval.fusion import Fusion, choose_fusion
from irplatform.training.topic_marks import families

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.collections import Collection, Corpus, Qrels
    from irplatform.plugin import Topic
    from irplatform.registry import Registry
    from irplatform.reranking.systems import RerankerChoice
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.first_stage import RetrieverChoice

MESH = "mesh"
"""The name of pre-training on MeSH-term queries."""
NO_PRETRAINING = "none"
"""Says that rerankers are not pre-trained, those that would be by default included."""
PLAIN_RETRIEVER = "bm25"
"""What finds candidates for MeSH-term queries."""
PRETRAINING_DEPTH = 100
"""Candidates of a topic in pre-training: topics are many, and few candidates are used of each."""
FEWEST_TOPICS = 10
"""Fewer judged topics than this are not cross-validated."""


def find_training(collection: Collection, train_on: Sequence[Collection]) -> Collection | None:
    """The collection that trains rerankers for this one, if there is one.

    Args:
        collection: what is evaluated.
        train_on: what the user named to learn from; nothing takes the collection's partner.

    Raises:
        InputError: it is the evaluated collection itself or has no judgments, or several are named
            that cannot be learned from together.
    """
    partner = collection.training() if collection.training and not train_on else None
    training = all_to_learn_from(train_on) if train_on else partner
    if training is None:
        return None
    if any(part.id == collection.id for part in training.parts or (training,)):
        raise InputError(f"'{collection.id}' cannot train rerankers for itself.")
    _check_learnable(training)
    return _validated_elsewhere(training, collection)


def _validated_elsewhere(training: Collection, collection: Collection) -> Collection:
    """The training collection, without its validation topics where they are what is evaluated."""
    validation = training.validation() if training.validation else None
    if validation is None:
        return training
    evaluated = any(part.id == collection.id for part in validation.parts or (validation,))
    return replace(training, validation=None) if evaluated else training


def all_to_learn_from(named: Sequence[Collection]) -> Collection:
    """Collections that the user named to learn from, as one.

    Raises:
        InputError: one is named twice or has no judgments, or they have different documents.
    """
    training = joined(named)
    _check_learnable(training)
    return training


def _check_learnable(training: Collection) -> None:
    """See that a collection, or all that it joins, can be learned from together.

    Raises:
        InputError: one has no judgments, or other documents than the first.
    """
    first, *others = training.parts or (training,)
    for part in (first, *others):
        if part.load_qrels is None:
            raise InputError(f"'{part.id}' has no judgments to train on.")
    for part in others:
        if not same_documents(part, first):
            raise InputError(
                f"'{part.id}' has other documents than '{first.id}': they cannot be learned from "
                "together."
            )


def same_documents(training: Collection, collection: Collection) -> bool:
    """Whether two collections search the same documents."""
    return training.corpus.fingerprint == collection.corpus.fingerprint


def check_same_documents(training: Collection, corpus: Corpus) -> None:
    """Refuse training topics, or their validation topics, that are over other documents.

    Raises:
        InputError: they are.
    """
    validation = training.validation() if training.validation else None
    for part in (training, validation):
        if part is not None and part.corpus.fingerprint != corpus.fingerprint:
            raise InputError(
                f"'{part.id}' has other documents than the evaluated collection. Train on it with "
                "`platform train` and give the result with --checkpoint."
            )


def topics_to_tune_on(
    collection: Collection, train_on: Sequence[Collection], *, itself: bool
) -> Collection:
    """The collection whose topics options are chosen on: never one that is evaluated unasked.

    Args:
        collection: what the options are for.
        train_on: what the user named to learn from; nothing takes the collection's partner.
        itself: whether the user said that the collection's own topics are for training.

    Raises:
        InputError: there is none, or the user named two.
    """
    if itself:
        if train_on:
            raise InputError("--train-on and --on-these-topics name different topics; give one.")
        if collection.load_qrels is None:
            raise InputError(f"'{collection.id}' has no judgments to tune on.")
        return collection
    used = find_training(collection, train_on)
    if used is None:
        raise InputError(
            f"'{collection.id}' names no training collection, and its own topics are kept for "
            "testing. Give --train-on COLLECTION, or --on-these-topics if they are for training."
        )
    return used


@dataclass(frozen=True)
class TrainingCandidates:
    """A training collection after the first stage.

    Attributes:
        id: the training collection's.
        training: its topics, with candidates.
        qrels: their judgments.
        validation: its validation topics and their judgments, where it has some apart.
    """

    id: str
    training: Candidates
    qrels: Qrels
    validation: tuple[Candidates, Qrels] | None = None

    @property
    def judged_topics(self) -> list[Topic]:
        """The topics that there is something to learn of."""
        return [topic for topic in self.training.topics if topic.id in self.qrels]

    def fusion(self) -> Fusion:
        """How to fuse the retrievers, as the training topics have it."""
        runs = self.training.first.runs
        return choose_fusion(runs, self.qrels) if len(runs) > 1 else Fusion()

    def training_set(self, fusion: Fusion, resources: CollectionResources) -> TrainingSet:
        """What rerankers learn from, over a first stage that is fused so."""
        training = self.training.fused(fusion).examples(self.qrels, resources)
        if self.validation is None:
            return TrainingSet(self.id, training)
        candidates, qrels = self.validation
        validation = candidates.fused(fusion).examples(qrels, resources)
        return TrainingSet(self.id, training, validation or None)


def find_candidates(
    training: Collection,
    retrievers: Sequence[RetrieverChoice],
    depth: int,
    rerank_depth: int,
    resources: CollectionResources,
    *,
    source: CandidateSource | None = None,
) -> TrainingCandidates:
    """Find candidates for the training topics, and the validation topics where there are.

    Args:
        training: the training collection.
        retrievers: the first stage.
        depth: documents that each retriever finds per topic.
        rerank_depth: how many of them are candidates.
        resources: the harness's resources.
        source: where the candidates of the training topics come from.

    Raises:
        InputError: the training collection has other documents, or no judgments.
    """
    source = source or Retrieved()
    check_same_documents(training, resources.corpus)

    def find(part: Collection, chosen: CandidateSource) -> tuple[Candidates, Qrels]:
        if part.load_qrels is None:
            raise InputError(f"'{part.id}' has no judgments to train on.")
        found = search(part, retrievers, depth, rerank_depth, resources, source=chosen)
        return found, part.load_qrels()

    validation = training.validation() if training.validation else None
    return TrainingCandidates(
        training.id,
        *find(training, source),
        find(validation, source.elsewhere()) if validation and validation.load_qrels else None,
    )


def check_pretraining(
    name: str | None,
    collection: Collection,
    checkpoint: Path | None,
    rerankers: Sequence[RerankerChoice],
    plugins: Registry,
) -> None:
    """Refuse pre-training that would have no effect, or on what there is not.

    Raises:
        InputError: nothing is trained, there is no such collection, it has other documents or no
            judgments, or the documents have no MeSH headings.
    """
    if name in (None, NO_PRETRAINING):
        return
    if checkpoint is not None:
        raise InputError("--pretrain has no effect with --checkpoint: nothing is trained then.")
    if not any(choice.trainable for choice in rerankers):
        raise InputError("--pretrain has no effect: no reranker that learns is asked for.")
    if name == MESH:
        check_headings(collection.corpus)
        return
    source = plugins.collection(name)
    if source.load_qrels is None:
        raise InputError(f"'{source.id}' has no judgments to pre-train on.")
    check_same_documents(source, collection.corpus)


def check_repetitions(seeds: int, members: int, rerankers: Sequence[RerankerChoice]) -> None:
    """Refuse a number of trainings that would have no effect.

    Raises:
        InputError: no reranker learns.
    """
    if any(choice.trainable for choice in rerankers):
        return
    for name, given, usual in (("seeds", seeds, 1), ("members", members, MEMBERS)):
        if given != usual:
            raise InputError(f"--{name} has no effect: no reranker that learns is asked for.")


def pretraining_set(
    name: str | None,
    collection: Collection,
    plugins: Registry,
    retrievers: Sequence[RetrieverChoice],
    resources: CollectionResources,
    fusion: Fusion,
    *,
    queries: int,
) -> TrainingSet | None:
    """What rerankers learn from before they learn from the training collection.

    Args:
        name: "mesh" for MeSH-term queries of the collection's documents, or a collection over the
            same documents; None or "none" for nothing.
        collection: the collection that is run or trained on.
        plugins: where names of collections are looked up.
        retrievers: the first stage, for the candidates of a collection's topics.
        resources: the harness's resources.
        fusion: how the retrievers are fused.
        queries: how many MeSH-term queries to draw.

    Raises:
        InputError: the documents have no headings, or the collection has others or no judgments.
    """
    if name in (None, NO_PRETRAINING):
        return None
    if name == MESH:
        # Plain words only: an expanded query may search the very headings that it was made of.
        plain, _ = choose_systems(plugins, (PLAIN_RETRIEVER,), (), {})
        source = mesh_queries(collection.corpus, queries, resources.seed)
        found = find_candidates(source, plain, PRETRAINING_DEPTH, PRETRAINING_DEPTH, resources)
        return found.training_set(Fusion(), resources)
    source = plugins.collection(name)
    found = find_candidates(source, retrievers, PRETRAINING_DEPTH, PRETRAINING_DEPTH, resources)
    return found.training_set(fusion, resources)


def declared_pretraining(collection: Collection, rerankers: Sequence[RerankerChoice]) -> str | None:
    """What rerankers learn from first where nobody says: "mesh" where one of them declares it.

    Collections without headings have none; then nothing is learned from first.
    """
    declaring = [choice.name for choice in rerankers if choice.pretrained_on == MESH]
    if declaring and MESH_FIELD not in collection.corpus.fields:
        notice(
            f"{', '.join(declaring)}: not pre-trained, since the documents of '{collection.id}' "
            "have no MeSH headings."
        )
        return None
    return MESH if declaring else None


def check_cross_validation(
    collection: Collection, rerankers: Sequence[RerankerChoice], qrels: Qrels | None
) -> bool:
    """Whether rerankers can be cross-validated on a collection without a training partner.

    Raises:
        InputError: they cannot, and one of them has to learn.
    """
    topics = collection.load_topics()
    judged = [t for t in topics if any(g > 0 for g in (qrels or {}).get(t.id, {}).values())]
    different = len(set(families(judged)))
    possible = different >= FEWEST_TOPICS
    learning = [choice.name for choice in rerankers if choice.trainable]
    if learning and not possible:
        some = "" if different == len(judged) else f", which ask for {different} different things,"
        raise InputError(
            f"'{collection.id}' names no training collection for {', '.join(learning)}, and "
            f"its own {len(judged)} judged topics{some} are too few to cross-validate (at least "
            f"{FEWEST_TOPICS}). "
            "Give --train-on COLLECTION or --checkpoint FOLDER."
        )
    if rerankers and possible:
        what = "model" if learning else "choice of the first stage's share"
        notice(
            f"{collection.id} names no training collection: cross-validating over its own "
            f"{len(judged)} judged topics in {FOLDS} folds, so that no topic is scored by a {what} "
            "that saw its judgments. Or give --train-on COLLECTION or --checkpoint FOLDER."
        )
    return possible
