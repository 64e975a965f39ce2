"""Refusals of what would have no effect, or has too few topics to learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.console import notice
from irplatform.errors import InputError
from irplatform.pipeline import FOLDS
from irplatform.reranking.splits import MEMBERS
from irplatform.training.topic_marks import families

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.collections import Collection, Qrels
    from irplatform.reranking.systems import RerankerChoice

FEWEST_TOPICS = 10
"""Fewer judged topics than this are not cross-validated."""


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
