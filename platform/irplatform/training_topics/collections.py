"""Which collection rerankers learn from, and whether it can be learned from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.collections.joined import joined
from irplatform.console import notice
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.collections import Collection, Corpus


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
