"""Training collections and pre-training: the topics that rerankers learn from.

Nothing is learned from the topics that are evaluated, but in cross-validation. What cannot be
learned from is refused before anything is searched.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.collections.derived import FIELD as MESH_FIELD
from irplatform.collections.derived import TooFewHeadingsError, check_headings, joined, mesh_queries
from irplatform.errors import InputError, counted
from irplatform.experiment.settings import MESH_QUERIES
from irplatform.experiment.systems import choose_systems
from irplatform.reranking.rerank import FOLDS
from irplatform.reranking.systems import MEMBERS
from irplatform.reranking.training_set import TrainingSet, training_set
from irplatform.retrieval.candidates import Candidates, CandidateSource, Request, Retrieved
from irplatform.retrieval.fusion import Fusion
from irplatform.system.console import notice
from irplatform.training.topic_identity import APART, families

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Collection, Corpus, Qrels, Topic
    from irplatform.registry.lookup import Registry
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.retrieval.first_stage import ChosenRetriever

_ASKED = ("disease", "gene", "treatment")
"""Fields that say what a topic of precision medicine asks for."""
FEWEST_TOPICS = 10
"""Fewer topics with a relevant document than this are not cross-validated."""
ELSEWHERE = (
    "Train on it with `platform train` and give the result with --checkpoint; for rerankers that "
    "do not learn, give --interpolate W."
)
"""Advice for training topics over other documents."""
MESH = "mesh"
"""The name of pre-training on MeSH-term queries."""
NO_PRETRAINING = "none"
"""Says that rerankers are not pre-trained, those that would be by default included."""
PLAIN_RETRIEVER = "bm25"
"""The retriever that finds candidates for MeSH-term queries."""
_MAKE_SOME = (
    "Queries to pre-train on ask for the same documents; `platform headings --from "
    "COLLECTION` makes some where these have MeSH headings."
)
PRETRAINING_DEPTH = 100
"""Candidates of a topic in pre-training: topics are many, and few candidates are used of each."""


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
    """Tell if two collections search the same documents."""
    return training.corpus.same_documents(collection.corpus)


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
        named: whether the user named it; a partner with other documents is left out, with a notice.

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
    """Tell if rerankers can be cross-validated on a collection without a training partner.

    Raises:
        InputError: they cannot, and one of them has to learn.
    """
    topics = collection.topics
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
    """Warn of evaluated topics that ask for what no training topic asks for; "" if none do."""
    new_fields = [name for name in _ASKED if _have(topics, name) and not _have(learned_on, name)]
    if not new_fields:
        return _warning_of_missing(topics, learned_on)
    return (
        f"WARNING: these topics have the field {' and '.join(new_fields)}, and no training topic "
        "has: rerankers have not learned what it is worth, and may rank worse than the first stage."
    )


def _warning_of_missing(topics: Sequence[Topic], learned_on: Sequence[Topic]) -> str:
    """Warn where only training topics ask for a disease or a gene."""
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


def find_candidates(
    training: Collection,
    retrievers: Sequence[ChosenRetriever],
    depth: int,
    rerank_depth: int,
    resources: CollectionResources,
    *,
    source: CandidateSource | None = None,
) -> Candidates:
    """Find candidates for the training topics, and the validation topics where there are.

    Args:
        training: the training collection.
        retrievers: the first stage.
        depth: documents that each retriever finds per topic.
        rerank_depth: how many of them are candidates.
        resources: the collection's resources.
        source: where the candidates of the training topics come from.

    Raises:
        InputError: the training collection has other documents, or no judgments.
    """
    check_same_documents(training, resources.corpus)

    def find(part: Collection, source: CandidateSource) -> Candidates:
        if part.load_qrels is None:
            raise InputError(f"'{part.id}' has no judgments to train on.")
        found = source.find(Request(part, retrievers, depth, rerank_depth, resources))
        return replace(found, qrels=part.load_qrels())

    source = source or Retrieved()
    candidates = find(training, source)
    validation = training.validation() if training.validation else None
    if validation is None or validation.load_qrels is None:
        return candidates
    return replace(candidates, validation=find(validation, source.for_training()))


# What rerankers learn from before they learn from the training collection.


def check_pretraining(
    name: str | None,
    collection: Collection,
    checkpoint: Path | None,
    rerankers: Sequence[ChosenReranker],
    plugins: Registry,
    *,
    queries: int = MESH_QUERIES,
) -> None:
    """Refuse pre-training that would have no effect, or on something that does not exist.

    Raises:
        InputError: nothing is trained, a reranker cannot be pre-trained with its options, there is
            no such collection, it has other documents or no judgments, the documents have no MeSH
            headings, or a number of queries is set and none are drawn.
    """
    if queries != MESH_QUERIES:
        _refuse_idle_queries(name, checkpoint, rerankers)
    if name is not None and checkpoint is not None:
        raise InputError("--pretrain has no effect with --checkpoint: nothing is trained then.")
    if name in (None, NO_PRETRAINING):
        return
    if not any(choice.trainable for choice in rerankers):
        raise InputError("--pretrain has no effect: no reranker that learns is asked for.")
    for choice in rerankers:
        choice.in_pretraining()
    if name == MESH:
        check_headings(collection.corpus)
        return
    source = plugins.collection(name, also=(MESH, NO_PRETRAINING))
    if source.load_qrels is None:
        raise InputError(f"'{source.id}' has no judgments to pre-train on.")
    _refuse_test_topics(name, source, plugins)
    check_same_documents(source, collection.corpus, _MAKE_SOME)


def _refuse_test_topics(name: str, source: Collection, plugins: Registry) -> None:
    """See that a folder that also has training topics is not taken for its test topics.

    Raises:
        InputError: it is.
    """
    if ":" in name or name in plugins.collections:
        return
    try:
        others = plugins.collection(f"{name}:train")
    except InputError:  # no folder, or without such a split
        return
    if others.id != source.id:
        raise InputError(
            f"--pretrain {name} would learn from the test topics of this folder, which has others "
            f"to learn from: --pretrain {name}:train."
        )


def _refuse_idle_queries(
    name: str | None, checkpoint: Path | None, rerankers: Sequence[ChosenReranker]
) -> None:
    """See that somebody is pre-trained on MeSH-term queries, because the user or it says so."""
    if checkpoint is not None:
        raise InputError(
            "--pretrain-queries has no effect with --checkpoint: nothing is trained then."
        )
    declared = name is None and any(choice.traits.pretraining == MESH for choice in rerankers)
    if name != MESH and not declared:
        raise InputError("--pretrain-queries has no effect without --pretrain mesh.")


def declared_pretraining(
    collection: Collection,
    rerankers: Sequence[ChosenReranker],
    learned_before: Callable[[str], TrainingSet | None],
) -> TrainingSet | None:
    """The pre-training of rerankers that declare their own: MeSH-term queries.

    Documents without headings, or hardly any with some, make none; then nothing is learned from
    first, which a notice tells.

    Args:
        collection: the collection that is run or trained on.
        rerankers: those that learn.
        learned_before: `pretraining_set`, by its first argument.
    """
    declaring = [choice.name for choice in rerankers if choice.traits.pretraining == MESH]
    if not declaring:
        return None
    if MESH_FIELD not in collection.corpus.fields:
        why = f"the documents of '{collection.id}' have no MeSH headings."
    else:
        try:
            return learned_before(MESH)
        except TooFewHeadingsError as error:
            why = error.message
    notice(f"{', '.join(declaring)}: not pre-trained, since {why}")
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
    """The training set that rerankers are pre-trained on.

    Args:
        name: "mesh" for MeSH-term queries of the collection's documents, or a collection over the
            same documents; None or "none" for nothing.
        collection: the collection that is run or trained on.
        plugins: where names of collections are looked up.
        retrievers: the first stage, for the candidates of a collection's topics; those of topics
            that are made of headings are found by plain BM25.
        resources: the collection's resources.
        fusion: how the retrievers are fused.
        queries: how many MeSH-term queries to draw.

    Raises:
        InputError: the documents have no headings, or the collection has others or no judgments.
    """
    if name in (None, NO_PRETRAINING):
        return None
    source = (
        mesh_queries(collection.corpus, queries, resources.seed)
        if name == MESH
        else plugins.collection(name)
    )
    if _of_headings(source):
        # Plain words only: an expanded query may search the very headings that it was made of.
        retrievers, _ = choose_systems(plugins, (PLAIN_RETRIEVER,), (), {})
        fusion = Fusion()
    depth = PRETRAINING_DEPTH
    candidates = find_candidates(source, retrievers, depth, depth, resources)
    return training_set(candidates.fused(fusion), resources)


def _of_headings(source: Collection) -> bool:
    """Tell if all topics were made of MeSH headings."""
    topics = source.topics
    return bool(topics) and all(topic.fields.get(MESH_FIELD) for topic in topics)
