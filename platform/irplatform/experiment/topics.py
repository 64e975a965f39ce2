"""Some topics of a collection, for a quick look: `41,42` or `first:10`; fingerprints of topics.

Runs over some topics are marked, and have a folder of their own: they must not be compared with
runs over all topics.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, listing, unknown
from irplatform.files.digests import file_digest, fingerprint
from irplatform.run_folder.metadata_files import read_metadata
from irplatform.run_folder.metadata_model import ChosenTopics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Collection, Qrels

_FIRST = "first:"
_STRANGE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 40
"""Characters of a folder's name."""


def only_topics(collection: Collection, choice: Sequence[str]) -> Collection:
    """Return a collection with some of its topics, in its order, and their judgments.

    Args:
        collection: the collection.
        choice: ids, or "first:10" for the first ten; all topics if empty.

    Raises:
        InputError: there is no such topic, or the number is not positive.
    """
    if not choice:
        return collection
    topics = {topic.id: topic for topic in collection.topics}
    ids: set[str] = set()
    for text in choice:
        if text in topics:
            ids.add(text)
        elif text.startswith(_FIRST):
            ids |= {*[*topics][: _number(text)]}
        else:
            raise unknown("topic", text, topics, of=f"'{collection.id}'")

    def judgments() -> Qrels:
        return {topic: grades for topic, grades in collection.qrels.items() if topic in ids}

    return replace(
        collection,
        load_topics=lambda: [topic for topic in topics.values() if topic.id in ids],
        load_qrels=judgments if collection.load_qrels else None,
        topics_left_out=frozenset(topics.keys() - ids),
    )


def topics_asked(path: Path | None) -> tuple[str, ...]:
    """Return the choice of topics of a run file, by its metadata; () if it ranks all."""
    return tuple(read_metadata(path).data.topics_chosen.asked) if path else ()


def of_quick_looks(collection: Collection, looks: Mapping[Path, Sequence[str]]) -> Collection:
    """Return a collection with the topics that some runs share.

    Args:
        collection: the collection.
        looks: runs over some of its topics, with their choice; all topics if empty.

    Raises:
        InputError: they share no topic, or see `only_topics`.
    """
    topics = [{topic.id for topic in only_topics(collection, a).topics} for a in looks.values()]
    if not topics:
        return collection
    shared = [topic.id for topic in collection.topics if all(topic.id in ids for ids in topics)]
    if not shared:
        raise InputError(f"{listing(map(str, looks))}: these quick looks share no topic.")
    return only_topics(collection, shared)


def _number(text: str) -> int:
    number = text.removeprefix(_FIRST)
    if not number.isdecimal() or int(number) < 1:
        raise InputError(f"write the number of topics as {_FIRST}10, not '{text}'.")
    return int(number)


def chosen_topics(collection: Collection, choice: Sequence[str]) -> ChosenTopics:
    """Return what a choice of topics was; nothing if all are ranked."""
    ranked = len(collection.topics)
    of = ranked + len(collection.topics_left_out)
    return ChosenTopics(asked=[*choice], ranked=ranked, of=of) if choice else ChosenTopics()


def topics_folder(choice: Sequence[str]) -> str:
    """Return the name of a folder for runs over some topics.

    >>> topics_folder(["first:10"]), topics_folder(["41", "42"])
    ('topics-first-10', 'topics-41-42')
    """
    name = _STRANGE.sub("-", "-".join(["topics", *choice]))
    if len(name) <= _LONGEST and "".join(choice).isascii():
        return name
    return f"topics-{fingerprint({'topics': [*choice]})[:12]}"


def topic_fingerprints(collection: Collection, qrels: Qrels | None) -> dict[str, Any]:
    """Return the fingerprints of topics and judgments; this reads no documents."""
    topics = [topic.describe() for topic in collection.topics]
    judged = {q: dict(grades) for q, grades in (qrels or {}).items()}
    sampled = collection.sampled_qrels
    return {
        "topics": fingerprint({"topics": topics}),
        "qrels": fingerprint(judged) if judged else None,
        **({"sampled qrels": file_digest(sampled)} if sampled is not None else {}),
    }
