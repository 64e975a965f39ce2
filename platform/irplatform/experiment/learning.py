"""Training collections and pre-training: the topics that rerankers learn from.

Nothing is learned from the topics that are evaluated, except in cross-validation. Collections that
cannot be learned from are refused before anything is searched.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.collections.derived import FIELD as MESH_FIELD
from irplatform.collections.derived import TooFewHeadingsError, check_headings, joined, mesh_queries
from irplatform.errors import InputError, counted
from irplatform.experiment.settings import MESH_QUERIES
from irplatform.experiment.systems import choose_systems
from irplatform.reranking.systems import MEMBERS
from irplatform.reranking.training_set import FOLDS, TrainingSet, training_set
from irplatform.retrieval.candidates import with_relevant
from irplatform.retrieval.first_stage import FirstStage
from irplatform.retrieval.fusion import Fusion
from irplatform.spelling import command, option
from irplatform.system.console import notice, notice_once
from irplatform.training.topic_identity import APART, families

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Collection, Corpus, Qrels, Topic
    from irplatform.registry.lookup import Registry
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.retrieval.candidates import Candidates
    from irplatform.retrieval.retrievers import ChosenRetriever

_ASKED = ("disease", "gene", "treatment")
"""Fields that say what a topic of precision medicine asks for."""
FEWEST_TOPICS = 10
"""Fewer topics with a relevant document than this are not cross-validated."""
MESH = "mesh"
"""The name of pre-training on MeSH-term queries."""
NO_PRETRAINING = "none"
"""Turns pre-training off, also of rerankers that declare their own."""
_PRETRAINING_DEPTH = 100
"""Candidates of a topic in pre-training: topics are many, and few candidates are used of each."""


def find_training(collection: Collection, train_on: Sequence[Collection]) -> Collection | None:
    """Return the collection that trains rerankers for another one; None if there is none.

    It is the collections of `train_on`, joined, or else the partner of the collection. Validation
    topics that are the evaluated ones are left out. InputError if it is the evaluated collection
    itself or cannot be learned from.
    """
    collections = train_on or ([collection.training()] if collection.training else [])
    if not collections:
        return None
    training = all_to_learn_from(collections)
    if _includes(training, collection):
        raise InputError(f"'{collection.id}' cannot train rerankers for itself.")
    validation = training.validation() if training.validation else None
    evaluated = validation is not None and _includes(validation, collection)
    return replace(training, validation=None) if evaluated else training


def _includes(joined_collection: Collection, collection: Collection) -> bool:
    parts = joined_collection.parts or (joined_collection,)
    return any(part.id == collection.id for part in parts)


def all_to_learn_from(collections: Sequence[Collection]) -> Collection:
    """Join collections to learn from.

    Raises:
        InputError: one is named twice or has no judgments, or they have different documents.
    """
    training = joined(collections)
    first, *others = training.parts or (training,)
    for part in (first, *others):
        if part.load_qrels is None:
            raise InputError(f"'{part.id}' has no judgments to train on.")
    for part in others:
        if not part.corpus.same_documents(first.corpus):
            raise InputError(
                f"'{part.id}' has other documents than '{first.id}': they cannot be learned from "
                "together."
            )
    return training


def check_same_documents(training: Collection, corpus: Corpus, advice: str = "") -> None:
    """Refuse training topics, or their validation topics, that are over other documents."""
    validation = training.validation() if training.validation else None
    for part in (training, validation):
        if part is not None and not part.corpus.same_documents(corpus):
            apart = (
                f"Train on it with {command('train')} and give the result with "
                f"{option('checkpoint')}; for rerankers that do not learn, give "
                f"{option('interpolate', 'W')}."
            )
            raise InputError(
                f"'{part.id}' has other documents than the evaluated collection. {advice or apart}"
            )


def to_fuse_on(training: Collection, collection: Collection, *, named: bool) -> Collection | None:
    """Return the training collection where only weights of fused retrievers are learned from it.

    A partner with other documents is left out, with a notice; one that the user named is refused.
    """
    if training.corpus.same_documents(collection.corpus):
        return replace(training, validation=None)  # nothing is validated
    other = f"has other documents than '{collection.id}'"
    if named:
        raise InputError(
            f"'{training.id}' {other}: the weights of retrievers cannot be learned from it. Give "
            f"another {option('train_on', 'COLLECTION')}, or {option('fusion', 'ranks')} without "
            "it."
        )
    notice(f"{training.id}: {other}, so that all retrievers count the same when they are fused")
    return None


def check_train_topics(
    number: int | None, training: Collection | None, collection: Collection
) -> None:
    """Refuse more training topics than a collection has, or any where it has none."""
    if number is None:
        return
    if training is None:
        raise InputError(
            f"{option('train_topics')} has no effect: '{collection.id}' has no separate training "
            f"topics. Give {option('train_on', 'COLLECTION')}."
        )
    qrels = training.qrels
    usable = len(with_relevant(training.topics, qrels))
    if number > usable:
        raise InputError(
            f"{option('train_topics')} is {number}, and '{training.id}' has "
            f"{counted(usable, 'topic')} with a relevant document to learn from."
        )


def topics_to_tune_on(
    collection: Collection, train_on: Sequence[Collection], *, itself: bool
) -> Collection:
    """Return the collection whose topics options are chosen on: never an evaluated one unasked.

    It is `train_on`, by default the collection's partner, or the collection `itself` if its own
    topics are for training. InputError if there is no such collection, or both are named.
    """
    if itself:
        if train_on:
            raise InputError(
                f"{option('train_on')} and {option('on_these_topics', True)} name different "
                "topics; give one."
            )
        if collection.load_qrels is None:
            raise InputError(f"'{collection.id}' has no judgments to tune on.")
        return collection
    training = find_training(collection, train_on)
    if training is None:
        raise InputError(
            f"'{collection.id}' names no training collection, and its own topics are kept for "
            f"testing. Give {option('train_on', 'COLLECTION')}, or "
            f"{option('on_these_topics', True)} if they are for training."
        )
    return training


def check_repetitions(seeds: int, members: int, rerankers: Sequence[ChosenReranker]) -> None:
    """Refuse a number of seeds or members where no reranker learns."""
    if any(choice.trainable for choice in rerankers):
        return
    for name, number, usual in (("seeds", seeds, 1), ("members", members, MEMBERS)):
        if number != usual:
            raise InputError(f"{option(name)} has no effect: no reranker that learns is asked for.")


def check_cross_validation(
    collection: Collection, rerankers: Sequence[ChosenReranker], qrels: Qrels | None
) -> bool:
    """Tell if rerankers can be cross-validated on a collection without a training partner.

    Raises:
        InputError: they cannot, and one of them has to learn.
    """
    topics = collection.topics
    relevant = with_relevant(topics, qrels or {})
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
            f"Give {option('train_on', 'COLLECTION')} or {option('checkpoint', 'FOLDER')}."
        )
    if rerankers and possible:
        learned = "model" if learning else "choice of the first stage's share"
        instead = option("checkpoint", "FOLDER") if learning else option("interpolate", "W")
        notice_once(
            f"{collection.id} names no training collection: cross-validating over its own "
            f"{len(relevant)} topics with a relevant document in {FOLDS} folds, so that no topic "
            f"is scored by a {learned} that saw its judgments. Or give "
            f"{option('train_on', 'COLLECTION')} or {instead}."
        )
    return possible


def warning_of_fields(topics: Sequence[Topic], learned_on: Sequence[Topic]) -> str:
    """Warn of fields that only evaluated or only training topics have; return "" otherwise."""
    fields, training_fields = (
        [name for name in _ASKED if any(topic.fields.get(name) for topic in group)]
        for group in (topics, learned_on)
    )
    if new_fields := [name for name in fields if name not in training_fields]:
        return (
            f"WARNING: these topics have the field {' and '.join(new_fields)}, and no training "
            "topic has: rerankers have not learned what it is worth, and may rank worse than the "
            "first stage."
        )
    if training_fields and not fields:
        return (
            f"WARNING: the training topics have the field {' and '.join(training_fields)}, and "
            "none of these topics has: what rerankers have learned of it does not apply here, and "
            "they may rank worse than the first stage."
        )
    return ""


def training_candidates(
    training: Collection, first_stage: FirstStage, resources: CollectionResources
) -> Candidates:
    """Find candidates for the training topics, and for the validation topics if there are any.

    InputError if the training collection has other documents, or no judgments.
    """
    check_same_documents(training, resources.corpus)
    if training.load_qrels is None:
        raise InputError(f"'{training.id}' has no judgments to train on.")
    candidates = first_stage.candidates(training, resources)
    validation = training.validation() if training.validation else None
    apart = None
    if validation is not None and validation.load_qrels is not None:
        of_validation = first_stage.for_training(validation).candidates(validation, resources)
        apart = replace(of_validation, qrels=validation.qrels)
    return replace(candidates, qrels=training.qrels, validation=apart)


def check_pretraining(
    name: str | None,
    collection: Collection,
    checkpoint: Path | None,
    rerankers: Sequence[ChosenReranker],
    plugins: Registry,
    *,
    queries: int = MESH_QUERIES,
) -> None:
    """Refuse pre-training without effect, or on topics that cannot be learned from."""
    if name is not None and checkpoint is not None:
        raise InputError(
            f"{option('pretrain')} has no effect with {option('checkpoint')}: nothing is trained "
            "then."
        )
    declared = name is None and any(choice.traits.pretraining == MESH for choice in rerankers)
    if queries != MESH_QUERIES and (checkpoint is not None or not (name == MESH or declared)):
        raise InputError(
            f"{option('pretrain_queries')} has no effect without {option('pretrain', MESH)}."
        )
    if name in (None, NO_PRETRAINING):
        return
    if not any(choice.trainable for choice in rerankers):
        raise InputError(
            f"{option('pretrain')} has no effect: no reranker that learns is asked for."
        )
    for choice in rerankers:
        choice.in_pretraining()
    if name == MESH:
        check_headings(collection.corpus)
        return
    source = plugins.collection(name, also=(MESH, NO_PRETRAINING))
    if source.load_qrels is None:
        raise InputError(f"'{source.id}' has no judgments to pre-train on.")
    _refuse_test_topics(name, source, plugins)
    usage = command("headings", source="COLLECTION")
    advice = (
        f"Queries to pre-train on ask for the same documents; {usage} makes some where these have "
        "MeSH headings."
    )
    check_same_documents(source, collection.corpus, advice)


def _refuse_test_topics(name: str, source: Collection, plugins: Registry) -> None:
    """Refuse the test topics of a folder that has training topics, too."""
    if ":" in name or name in plugins.collections:
        return
    try:
        others = plugins.collection(f"{name}:train")
    except InputError:  # no folder, or without such a split
        return
    if others.id != source.id:
        raise InputError(
            f"{option('pretrain', name)} would learn from the test topics of this folder, which "
            f"has others to learn from: {option('pretrain', f'{name}:train')}."
        )


def declared_pretraining(
    collection: Collection,
    rerankers: Sequence[ChosenReranker],
    learned_before: Callable[[str], TrainingSet | None],
) -> TrainingSet | None:
    """Return the MeSH-term queries that rerankers declare as their pre-training; None if none does.

    Documents with hardly any headings make no queries: a notice says so, and the result is None.
    `learned_before` is `pretraining_set` by its first argument.
    """
    declaring = [choice.name for choice in rerankers if choice.traits.pretraining == MESH]
    if not declaring:
        return None
    if MESH_FIELD not in collection.corpus.fields:
        reason = f"the documents of '{collection.id}' have no MeSH headings."
    else:
        try:
            return learned_before(MESH)
        except TooFewHeadingsError as error:
            reason = error.message
    notice(f"{', '.join(declaring)}: not pre-trained, since {reason}")
    return None


def pretraining_set(
    name: str | None,
    collection: Collection,
    plugins: Registry,
    retrievers: Sequence[ChosenRetriever],
    resources: CollectionResources,
    fusion: Fusion,
    *,
    queries: int,
) -> TrainingSet | None:
    """Return the training set that rerankers are pre-trained on; None for the name None or "none".

    The name is "mesh" for as many `queries` of MeSH headings, or a collection over the same
    documents. Plain BM25 finds the candidates of topics made of headings. InputError if the
    documents have no headings, or the collection has other documents or no judgments.
    """
    if name in (None, NO_PRETRAINING):
        return None
    source = (
        mesh_queries(collection.corpus, queries, resources.seed)
        if name == MESH
        else plugins.collection(name)
    )
    topics = source.topics
    if topics and all(topic.fields.get(MESH_FIELD) for topic in topics):
        # Plain words only: an expanded query may search the very headings that it was made of.
        retrievers, _ = choose_systems(plugins, ("bm25",), (), {})
        fusion = Fusion()
    depth = _PRETRAINING_DEPTH
    first_stage = FirstStage(choices=retrievers, depth=depth, rerank_depth=depth)
    candidates = training_candidates(source, first_stage, resources)
    return training_set(candidates.fused(fusion), resources)
