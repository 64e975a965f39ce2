"""What cannot be learned: nothing to train, too few topics, fields that no training topic has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.console import notice
from irplatform.errors import InputError, counted
from irplatform.pipeline import FOLDS
from irplatform.reranking.splits import MEMBERS
from irplatform.training.topic_marks import APART, families

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.collections import Collection, Qrels
    from irplatform.plugin import Topic
    from irplatform.reranking.systems import RerankerChoice

_ASKED = ("disease", "gene", "treatment")
"""Fields that say what a topic of precision medicine asks for."""
FEWEST_TOPICS = 10
"""Fewer topics with a relevant document than this are not cross-validated."""


def check_repetitions(seeds: int, members: int, rerankers: Sequence[RerankerChoice]) -> None:
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
    collection: Collection, rerankers: Sequence[RerankerChoice], qrels: Qrels | None
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
