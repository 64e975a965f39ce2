"""Several collections over the same documents as one: more topics to learn from.

Ids of topics say nothing across collections: TREC numbers each year's from 1. Where an id stands in
two of them, every topic is called after its collection, as "trec-pm-2017:1".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from irplatform.collections.collection import Collection, Qrels
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import Topic


def joined(parts: Sequence[Collection]) -> Collection:
    """The topics and judgments of all; its id names them all: "a+b".

    It has judgments where all parts have some, and validation topics likewise: those of some parts
    would choose for the topics of others. Nothing is read but when it is asked for.

    Args:
        parts: at least one; a single one is returned as it is.

    Raises:
        InputError: two have the same id.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    ids = [part.id for part in parts]
    if twice := [name for name, times in Counter(ids).items() if times > 1]:
        raise InputError(f"'{twice[0]}' is named twice; its topics are learned from once.")
    return Collection(
        id="+".join(ids),
        title=" + ".join(part.title for part in parts),
        corpus=first.corpus,
        load_topics=partial(_topics, parts),
        load_qrels=partial(_qrels, parts) if all(part.load_qrels for part in parts) else None,
        measures=first.measures,
        validation=partial(_validation, parts) if all(part.validation for part in parts) else None,
        parts=tuple(parts),
    )


def _topics(parts: Sequence[Collection]) -> list[Topic]:
    held = [(part, list(part.load_topics())) for part in parts]
    clash = _clash(held)
    return [
        replace(topic, id=_name(part, topic.id)) if clash else topic
        for part, topics in held
        for topic in topics
    ]


def _qrels(parts: Sequence[Collection]) -> Qrels:
    """Judgments of topics that exist, under the ids that `_topics` gives these."""
    held = [(part, list(part.load_topics())) for part in parts]
    clash = _clash(held)
    found = {}
    for part, topics in held:
        judged = part.load_qrels() if part.load_qrels else {}
        for topic in topics:
            if topic.id in judged:
                found[_name(part, topic.id) if clash else topic.id] = judged[topic.id]
    return found


def _clash(held: Sequence[tuple[Collection, Sequence[Topic]]]) -> bool:
    ids = [topic.id for _, topics in held for topic in topics]
    return len(set(ids)) < len(ids)


def _name(part: Collection, topic: str) -> str:
    return f"{part.id}:{topic}"


def _validation(parts: Sequence[Collection]) -> Collection:
    return joined([part.validation() for part in parts if part.validation])
