"""Which collection rerankers learn from, and whether it can be learned from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from irplatform.collections.joined import joined
from irplatform.errors import InputError, counted
from irplatform.reranking.candidates import Candidates, search
from irplatform.reranking.folds import MEMBERS
from irplatform.reranking.rerank import FOLDS
from irplatform.reranking.training_set import TrainingSet
from irplatform.retrieval.candidates import CandidateSource, Retrieved
from irplatform.retrieval.fusion import Fusion, choose_fusion
from irplatform.system.console import notice
from irplatform.training.topic_identity import APART, families

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.data import Collection, Corpus, Qrels, Topic
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.first_stage import ChosenRetriever


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
    return training.corpus.same_documents(collection.corpus)


ELSEWHERE = (
    "Train on it with `platform train` and give the result with --checkpoint; for rerankers that "
    "do not learn, give --interpolate W."
)
"""What to do with training topics over other documents."""


def check_same_documents(training: Collection, corpus: Corpus, advice: str = ELSEWHERE) -> None:
    """Refuse training topics, or their validation topics, that are over other documents.

    Args:
        training: the topics.
        corpus: the documents.
        advice: what to do if they are.

    Raises:
        InputError: they are.
    """
    validation = training.validation() if training.validation else None
    for part in (training, validation):
        if part is not None and not part.corpus.same_documents(corpus):
            raise InputError(
                f"'{part.id}' has other documents than the evaluated collection. {advice}"
            )


def to_fuse_on(training: Collection, collection: Collection, *, named: bool) -> Collection | None:
    """The training collection where nothing but weights of fused retrievers is learned from it.

    Args:
        training: the collection that would be learned from.
        collection: what is evaluated.
        named: whether the user named it; a partner with other documents is told of and left out.

    Raises:
        InputError: the user named one that has other documents.
    """
    if same_documents(training, collection):
        return replace(training, validation=None)  # nothing is validated
    other = f"has other documents than '{collection.id}'"
    if named:
        raise InputError(
            f"'{training.id}' {other}: the weights of retrievers cannot be learned from it. Give "
            "another --train-on COLLECTION, or --fusion plain without it."
        )
    notice(f"{training.id}: {other}, so that all retrievers count the same when they are fused")
    return None


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
    training = find_training(collection, train_on)
    if training is None:
        raise InputError(
            f"'{collection.id}' names no training collection, and its own topics are kept for "
            "testing. Give --train-on COLLECTION, or --on-these-topics if they are for training."
        )
    return training


# What cannot be learned: nothing to train, too few topics, fields that no training topic has.

_ASKED = ("disease", "gene", "treatment")
"""Fields that say what a topic of precision medicine asks for."""
FEWEST_TOPICS = 10
"""Fewer topics with a relevant document than this are not cross-validated."""


def check_repetitions(seeds: int, members: int, rerankers: Sequence[ChosenReranker]) -> None:
    """Refuse a number of trainings that would have no effect.

    Raises:
        InputError: no reranker learns.
    """
    if any(choice.trainable for choice in rerankers):
        return
    for name, number, usual in (("seeds", seeds, 1), ("members", members, MEMBERS)):
        if number != usual:
            raise InputError(f"--{name} has no effect: no reranker that learns is asked for.")


def check_cross_validation(
    collection: Collection, rerankers: Sequence[ChosenReranker], qrels: Qrels | None
) -> bool:
    """Whether rerankers can be cross-validated on a collection without a training partner.

    Raises:
        InputError: they cannot, and one of them has to learn.
    """
    topics = collection.load_topics()
    relevant = [t for t in topics if any(g > 0 for g in (qrels or {}).get(t.id, {}).values())]
    distinct = len(set(families(relevant)))
    possible = distinct >= FEWEST_TOPICS
    learning = [choice.name for choice in rerankers if choice.trainable]
    if learning and not possible:
        if distinct == len(relevant):
            remark = ""
        elif any(any(topic.values(APART)) for topic in relevant):
            remark = f", which come from {distinct} different sources ({APART}),"
        else:
            remark = f", which ask for {distinct} different things,"
        raise InputError(
            f"'{collection.id}' names no training collection for {', '.join(learning)}, and "
            f"its own {counted(len(relevant), 'topic')} with a relevant document{remark} "
            f"{'is' if len(relevant) == 1 else 'are'} too few to cross-validate (at least "
            f"{FEWEST_TOPICS}). "
            "Give --train-on COLLECTION or --checkpoint FOLDER."
        )
    if rerankers and possible:
        learned = "model" if learning else "choice of the first stage's share"
        instead = "--checkpoint FOLDER" if learning else "--interpolate W"
        notice(
            f"{collection.id} names no training collection: cross-validating over its own "
            f"{len(relevant)} topics with a relevant document in {FOLDS} folds, so that no topic "
            f"is scored by a {learned} that saw its judgments. Or give --train-on COLLECTION or "
            f"{instead}."
        )
    return possible


def warning_of_fields(topics: Sequence[Topic], learned_on: Sequence[Topic]) -> str:
    """What to say where topics ask for what no training topic asks for; "" where all is known.

    Args:
        topics: what is evaluated.
        learned_on: what rerankers learn from.
    """
    new_fields = [name for name in _ASKED if _have(topics, name) and not _have(learned_on, name)]
    if not new_fields:
        return _warning_of_missing(topics, learned_on)
    return (
        f"WARNING: these topics have the field {' and '.join(new_fields)}, and no training topic "
        "has: rerankers have not learned what it is worth, and may rank worse than the first stage."
    )


def _warning_of_missing(topics: Sequence[Topic], learned_on: Sequence[Topic]) -> str:
    """What to say where only training topics ask for a disease or a gene."""
    known = [name for name in _ASKED if _have(learned_on, name)]
    if not known or any(_have(topics, name) for name in _ASKED):
        return ""
    return (
        f"WARNING: the training topics have the field {' and '.join(known)}, and none of these "
        "topics has: what rerankers have learned of it does not apply here, and they may rank "
        "worse than the first stage."
    )


def _have(topics: Sequence[Topic], field: str) -> bool:
    return any(topic.fields.get(field) for topic in topics)


# A training collection after the first stage.


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
        """The topics that are learned from: some may have no relevant document."""
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
    retrievers: Sequence[ChosenRetriever],
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

    def find(part: Collection, candidate_source: CandidateSource) -> tuple[Candidates, Qrels]:
        if part.load_qrels is None:
            raise InputError(f"'{part.id}' has no judgments to train on.")
        candidates = search(
            part, retrievers, depth, rerank_depth, resources, source=candidate_source
        )
        return candidates, part.load_qrels()

    validation = training.validation() if training.validation else None
    return TrainingCandidates(
        training.id,
        *find(training, source),
        find(validation, source.for_training()) if validation and validation.load_qrels else None,
    )
