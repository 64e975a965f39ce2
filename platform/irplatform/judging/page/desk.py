"""What the page of assessors asks for, as objects of JSON.

Nothing of it says which system found a document, at which rank, or in which stratum it is.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from irplatform.errors import InputError, counted, unknown
from irplatform.judging.judgments import ADJUDICATED, PERSON, Source
from irplatform.judging.page.assignment import Assignment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.data import Document, FieldValue, Topic
    from irplatform.judging.page.assignment import Pair
    from irplatform.judging.page.words import Words
    from irplatform.judging.pool_folder import Pool
    from irplatform.judging.store import Store

    Read = Callable[[Sequence[str]], Mapping[str, Document]]
    Grow = Callable[[Pool], Pool | None]


class Move(BaseModel):
    """What a person who judges or settles differences asks for, at a document of a topic."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    assessor: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
    adjudicates: bool = False
    topic: str = ""
    document: str = ""
    by: int = 0

    @property
    def source(self) -> Source:
        """The source of judgments."""
        return Source(PERSON, self.assessor, ADJUDICATED if self.adjudicates else "")


class Click(Move):
    """A judgment, or a request to undo one; `seen` is the number of the judgment it replaces."""

    grade: Annotated[int, Field(strict=True)] | None = None
    note: Annotated[str, StringConstraints(max_length=4000)] = ""
    seen: int = 0
    request: Annotated[str, StringConstraints(min_length=8, max_length=64)]


class Desk:
    """Hands out topics and documents, and takes judgments; called from one thread.

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
        self._text = lru_cache(maxsize=1_000)(self._marked)

    def start(self, move: Move) -> dict[str, Any]:
        """Return grades, topics, the number of differences, and the first document."""
        topics = [self._topics[topic] for topic in self._assignment.placed]
        return {
            "grades": [{"grade": g, "text": text} for g, text in sorted(self.grades.items())],
            "topics": [{"id": topic.id, "query": topic.query} for topic in topics],
            "differences": len(self.store.differences()),
            **self.next(move),
        }

    def next(self, move: Move) -> dict[str, Any]:
        """Return the next document for a person, of a topic or of the next one with work."""
        reply, assignment = self._next(move), self._assignment
        if reply["card"] or move.adjudicates or not assignment.is_done:
            return reply
        if pool := self._grow(assignment.pool):
            assignment.renew(pool)
        return self._next(move)

    def step(self, move: Move) -> dict[str, Any]:
        """Return the document that a person judged before or after one, or the next to judge.

        Before the first of a topic comes the last of the topic before.
        """
        documents = self._documents(move, move.topic)
        place = documents.index(move.document) if move.document in documents else len(documents)
        if place + move.by >= len(documents):
            return self.next(move)
        if place + move.by >= 0:
            return self._view(move, (move.topic, documents[place + move.by]))
        before = [*takewhile(lambda topic: topic != move.topic, self._assignment.placed)]
        pairs = (
            (topic, documents[-1])
            for topic in reversed(before)
            if (documents := self._documents(move, topic))
        )
        return self._view(move, next(pairs, None))

    def judge(self, click: Click) -> dict[str, Any]:
        """Write a judgment; return how it stands, and the next document, if there is one."""
        if not self._assignment.is_asked(click.topic, click.document):
            raise InputError(
                f"the pool has no document '{click.document}' to judge for topic '{click.topic}'."
            )
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
        return {"judgment": line.as_json(), **self._next(click)}

    def undo(self, click: Click) -> dict[str, Any]:
        """Take back a person's last judgment; return its document as it is now, or None."""
        line = self.store.undo(click.source, click.request)
        if line is None:
            return self._view(click, None)
        self._assignment.note(line)
        return self._view(click, (line.judgment.topic, line.judgment.document))

    def _documents(self, move: Move, topic: str) -> list[str]:
        """The documents of a topic that a person judged, in this order."""
        lines = self.store.of_topic(topic)
        return [line.judgment.document for line in lines if line.judgment.source == move.source]

    def _next(self, move: Move) -> dict[str, Any]:
        if not move.adjudicates:
            return self._view(move, self._assignment.next(move.assessor, move.topic))
        pairs = self.store.differences()
        of_topic = [pair for pair in pairs if pair[0] == move.topic]
        return self._view(move, next(iter(of_topic + pairs), None))

    def _view(self, move: Move, pair: Pair | None) -> dict[str, Any]:
        """What the page shows: a document with the person's judgment, and how much is done."""
        if move.adjudicates:
            count = len(self.store.differences())
            progress = f"{counted(count, 'document')} left where assessors differ"
        else:
            progress = self._assignment.progress(pair[0] if pair else move.topic)
        if pair is None:
            return {"card": None, "progress": progress}
        judgment = self.store.standing(*pair, move.source)
        card = {**self._text(*pair), "judgment": judgment and judgment.as_json()}
        if move.adjudicates:
            lines = self.store.of_document(*pair)
            card["said"] = [line.as_json() for line in lines if not line.adjudicates]
        return {"card": card, "progress": progress}

    def _marked(self, topic: str, document: str) -> dict[str, Any]:
        """A topic with all its fields, and a document with the topic's words marked."""
        about = self._topics[topic]
        fields = [[name, _text(value)] for name, value in about.fields.items()]
        topic_card = {"id": topic, "query": about.query, "fields": [f for f in fields if f[1]]}
        card: dict[str, Any] = {"topic": topic_card, "id": document}
        text = self._read([document]).get(document)
        if text is None:
            title = ["This document is not in the collection"]
            return {**card, "title": title, "abstract": [""], "fields": []}
        terms = self._words.terms([about.query] if about.query else [f[1] for f in fields])
        marked = [[n, self._words.marked(_text(value), terms)] for n, value in text.fields.items()]
        return {
            **card,
            "title": self._words.marked(text.title or "(no title)", terms),
            "abstract": self._words.marked(text.abstract, terms),
            "fields": [field for field in marked if field[1] != [""]],
        }


def _text(value: FieldValue) -> str:
    return value if isinstance(value, str) else "; ".join(value)
