"""What the page of assessors asks for, as objects of JSON.

Nothing of it says which system found a document, at which rank, or in which stratum it is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from irplatform.errors import InputError, unknown
from irplatform.judging.judgments import ADJUDICATED, PERSON, Source
from irplatform.judging.page.assignment import Assignment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.data import Document, FieldValue, Topic
    from irplatform.judging.page.words import Words
    from irplatform.judging.pool_folder import Pool
    from irplatform.judging.store import Store

    Read = Callable[[Sequence[str]], Mapping[str, Document]]
    Grow = Callable[[Pool], Pool | None]

AHEAD = 3
"""Documents that a browser has: the one that is shown, and the next."""
_LISTED = 500
"""Judgments that a person sees in the list to change one."""
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
"""A person's name."""
_Request = Annotated[str, StringConstraints(min_length=8, max_length=64)]


class Asked(BaseModel):
    """Who asks: a person who judges, or who settles differences."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    assessor: Name
    adjudicates: bool = False

    @property
    def source(self) -> Source:
        """The source of judgments."""
        return Source(PERSON, self.assessor, ADJUDICATED if self.adjudicates else "")


class Undo(Asked):
    """A request to take back the last judgment."""

    request: _Request


class Click(Undo):
    """A judgment; `seen` is the number of the one that it replaces."""

    topic: str
    document: str
    grade: Annotated[int, Field(strict=True)] | None
    note: Annotated[str, StringConstraints(max_length=4000)] = ""
    seen: int = 0


class Desk:
    """Hands out topics and documents, and takes judgments; called from one thread at a time.

    Args:
        pool: the pool.
        store: its judgments.
        topics: the collection's topics by id.
        grades: grade to definition.
        read: returns documents by id, as far as the collection has them.
        words: marks the topic's words.
        share: the share of documents that two people judge.
        grow: returns the pool with its next documents, or None.
    """

    def __init__(
        self,
        pool: Pool,
        store: Store,
        topics: Mapping[str, Topic],
        grades: Mapping[int, str],
        read: Read,
        words: Words,
        *,
        share: float = 0.0,
        grow: Grow = lambda _: None,
    ) -> None:
        if missing := [topic for topic in pool.topics if topic not in topics]:
            raise unknown("topic", missing[0], topics, of="the collection, but of the pool")
        self.store, self.grades = store, grades
        self._topics, self._read, self._words, self._grow = topics, read, words, grow
        self._assignment = Assignment(pool, store, share)
        self._text = lru_cache(maxsize=1_000)(self._text_of)

    def start(self) -> dict[str, Any]:
        """Return grades, topics with their counts, names of assessors, number of differences."""
        shown = self._assignment
        return {
            "grades": [{"grade": g, "text": text} for g, text in sorted(self.grades.items())],
            "topics": [
                {
                    "id": topic,
                    "query": self._topics[topic].query,
                    "placed": placed,
                    "judged": shown.judged.get(topic, 0),
                }
                for topic, placed in shown.placed.items()
            ],
            "assessors": sorted(self.store.names()),
            "differences": len(self.store.differences()),
        }

    def topic(self, topic: str) -> dict[str, Any]:
        """Return a topic with all its fields."""
        whole = self._topics[topic]
        fields = [[name, _text(value)] for name, value in whole.fields.items()]
        return {"id": topic, "query": whole.query, "fields": [f for f in fields if f[1]]}

    def next(self, asked: Asked, topic: str) -> dict[str, Any]:
        """Return the next documents for a person, of a topic or of the next one with work."""
        if asked.adjudicates:
            pairs = self.store.differences()
            first = next((n for n, (each, _) in enumerate(pairs) if each == topic), 0)
            pairs = [*pairs[first:], *pairs[:first]]
            counts = {"differences": len(pairs)}
        else:
            topic, documents = self._assignment.next(asked.assessor, topic, AHEAD)
            known = self._assignment.pool
            if not documents and self._assignment.is_done and (pool := self._grow(known)):
                self._assignment.renew(pool)
                topic, documents = self._assignment.next(asked.assessor, topic, AHEAD)
            pairs = [(topic, document) for document in documents]
            counts = self._counts(asked, topic)
        cards = self._cards(asked, pairs[:AHEAD])
        topics = {topic: self.topic(topic) for topic, _ in pairs[:AHEAD]}
        return {"cards": cards, "topics": topics, "progress": counts}

    def card(self, asked: Asked, topic: str, document: str) -> dict[str, Any]:
        """Return a document with the person's judgment, or to adjudicate, with what others said."""
        self._refuse_others(topic, document)
        (card,) = self._cards(asked, [(topic, document)])
        return {"card": card, "topics": {topic: self.topic(topic)}}

    def mine(self, asked: Asked, topic: str) -> list[dict[str, Any]]:
        """Return a person's judgments of a topic as they stand, the last one first."""
        lines = [
            each for each in self.store.of_topic(topic) if each.judgment.source == asked.source
        ]
        return [
            {"document": each.judgment.document, **each.as_json()}
            for each in lines[: -_LISTED - 1 : -1]
        ]

    def judge(self, click: Click) -> dict[str, Any]:
        """Write a judgment; return how it stands, and the counts."""
        self._refuse_others(click.topic, click.document)
        if click.grade is not None and click.grade not in self.grades:
            raise InputError(f"the grade {click.grade} is none of {[*self.grades]}.")
        line = self.store.judge(
            click.topic,
            click.document,
            click.source,
            click.grade,
            note=click.note.strip(),
            seen=click.seen,
            request=click.request,
        )
        self._assignment.note(line)
        return {"judgment": line.as_json(), "progress": self._counts(click, click.topic)}

    def undo(self, undo: Undo) -> dict[str, Any]:
        """Take back a person's last judgment; return its document as it is now, or None."""
        line = self.store.undo(undo.source, undo.request)
        if line is None:
            return {"card": None}
        self._assignment.note(line)
        topic = line.judgment.topic
        shown = self.card(undo, topic, line.judgment.document)
        return {**shown, "progress": self._counts(undo, topic)}

    def _counts(self, asked: Asked, topic: str) -> dict[str, int]:
        if asked.adjudicates:
            return {"differences": len(self.store.differences())}
        return self._assignment.progress(asked.assessor, topic)

    def _refuse_others(self, topic: str, document: str) -> None:
        if not self._assignment.is_asked(topic, document):
            raise InputError(f"the pool has no document '{document}' to judge for topic '{topic}'.")

    def _cards(self, asked: Asked, pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
        cards = []
        for topic, document in pairs:
            own = self.store.standing(topic, document, asked.source)
            card = {**self._text(topic, document), "judgment": own and own.as_json()}
            if asked.adjudicates:
                lines = self.store.of_document(topic, document)
                card["said"] = [line.as_json() for line in lines if not line.adjudicates]
            cards.append(card)
        return cards

    def _text_of(self, topic: str, document: str) -> dict[str, Any]:
        card: dict[str, Any] = {"topic": topic, "id": document}
        found = self._read([document]).get(document)
        if found is None:
            return {**card, "missing": True, "title": [""], "abstract": [""], "fields": []}
        asked = self._topics[topic]
        terms = self._words.terms(
            [asked.query] if asked.query else map(_text, asked.fields.values())
        )
        fields = [
            [name, self._words.marked(_text(value), terms)] for name, value in found.fields.items()
        ]
        return {
            **card,
            "missing": False,
            "title": self._words.marked(found.title, terms),
            "abstract": self._words.marked(found.abstract, terms),
            "fields": [field for field in fields if field[1] != [""]],
        }


def _text(value: FieldValue) -> str:
    return value if isinstance(value, str) else "; ".join(value)
