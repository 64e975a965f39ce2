"""Several collections over the same documents as one: more topics to learn from.

Ids of topics say nothing across collections: TREC numbers each year's from 1. Where an id stands in
two of them, every topic is called after its collection, as "trec-pm-2017:1". A topic that two have,
with the same words and fields, comes once: else it would be validated on what learned from it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from irplatform.data import Collection, Qrels
from irplatform.errors import InputError
from irplatform.system.console import notice
from irplatform.system.digests import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.data import Topic


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
    all_topics = _Parts(parts)
    return Collection(
        id="+".join(ids),
        title=" + ".join(part.title for part in parts),
        corpus=first.corpus,
        load_topics=all_topics.topics,
        load_qrels=all_topics.qrels if all(part.load_qrels for part in parts) else None,
        measures=first.measures,
        validation=partial(_validation, parts) if all(part.validation for part in parts) else None,
        parts=tuple(parts),
    )


class _Parts:
    def __init__(self, parts: Sequence[Collection]) -> None:
        self._parts = parts

    @cached_property
    def _entries(self) -> list[tuple[Collection, Topic, str]]:
        """Collections, their topics, and the ids of these here; what two have comes once."""
        pairs = [(part, topic) for part in self._parts for topic in part.load_topics()]
        distinct: dict[str, tuple[Collection, Topic]] = {}
        for part, topic in pairs:
            content = fingerprint({"topic": topic.describe()[1:]})
            if content not in distinct or not self._is_judged(*distinct[content]):
                distinct[content] = (part, topic)
        unique = list(distinct.values())
        if repeated := len(pairs) - len(unique):
            notice(
                f"{'+'.join(part.id for part in self._parts)}: {repeated:,} of {len(pairs):,} "
                "topics repeat another's words and fields; they are learned from once, with the "
                "judgments of the first that has some."
            )
        ids = [topic.id for _, topic in unique]
        clash = len(set(ids)) < len(ids)
        return [
            (part, topic, f"{part.id}:{topic.id}" if clash else topic.id) for part, topic in unique
        ]

    @cached_property
    def _judgments(self) -> dict[str, Qrels]:
        return {part.id: part.load_qrels() for part in self._parts if part.load_qrels}

    def _is_judged(self, part: Collection, topic: Topic) -> bool:
        return topic.id in self._judgments.get(part.id, {})

    def topics(self) -> list[Topic]:
        """Each topic under its id here."""
        return [replace(topic, id=name) for _, topic, name in self._entries]

    def qrels(self) -> Qrels:
        """Judgments of topics that exist, under the same ids."""
        return {
            name: self._judgments[part.id][topic.id]
            for part, topic, name in self._entries
            if self._is_judged(part, topic)
        }


def _validation(parts: Sequence[Collection]) -> Collection:
    """The validation topics of all, once where parts share them."""
    validations = [part.validation() for part in parts if part.validation]
    return joined(list({collection.id: collection for collection in validations}.values()))
