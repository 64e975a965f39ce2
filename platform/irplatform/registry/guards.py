"""A plugin's collection with checks of its documents, topics and judgments; errors name the plugin.

Otherwise a wrong type fails in the index, a run file or a measure, far from the plugin.
`platform collections check` finds all else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from numbers import Integral
from typing import TYPE_CHECKING, TypeVar

from irplatform.data import Collection, Corpus, Document, Topic, fault
from irplatform.errors import PluginError, quoted
from irplatform.registry.plugin_calls import plugin_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from irplatform.data import Qrels

Answer = TypeVar("Answer")

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Ids of collections, which are part of paths."""
_LARGEST = 999_999
"""The largest grade: trec_eval takes memory for every grade."""
_BATCH = 1000
"""Documents that are checked at a time."""


@dataclass(frozen=True)
class Guard:
    """Checks the data of a plugin's collection.

    Attributes:
        title: the collection and its plugin.
        module: the module of its code.
        is_builtin: it is one of the platform's.
    """

    title: str
    module: str
    is_builtin: bool

    def call(self, doing: str, function: Callable[[], Answer]) -> Answer:
        """Call the plugin's code."""
        with plugin_call(self.title, doing, self.module, as_told=self.is_builtin):
            return function()

    def wrong(self, problem: str) -> PluginError:
        """Return an error about data of the plugin."""
        return PluginError(f"{self.title} {problem}")

    def collection(self, collection: object) -> Collection:
        """Return a collection with checks; PluginError if a part has a wrong type."""
        if not isinstance(collection, Collection):
            raise self.wrong(f"is {type(collection).__name__}, not a Collection.")
        if not isinstance(collection.corpus, Corpus):
            raise self.wrong(f"has {quoted(collection.corpus)} for its corpus; a Corpus is needed.")
        if not isinstance(collection.id, str) or not _ID.fullmatch(collection.id):
            raise self.wrong(
                f"has the id {quoted(collection.id)}; take letters, digits, '.', '_' and '-'."
            )
        corpus, qrels = collection.corpus, collection.load_qrels
        training, validation = collection.training, collection.validation
        return replace(
            collection,
            corpus=corpus if isinstance(corpus, GuardedCorpus) else GuardedCorpus(corpus, self),
            load_topics=partial(self._topics, collection.load_topics),
            load_qrels=qrels and partial(self._qrels, qrels),
            training=training and partial(self._partner, training, "training"),
            validation=validation and partial(self._partner, validation, "validation"),
        )

    def _partner(self, load: Callable[[], object], kind: str) -> Collection:
        partner = self.call(f"naming its {kind} collection", load)
        return replace(self, title=f"the {kind} collection of {self.title}").collection(partner)

    def _topics(self, load: Callable[[], object]) -> Sequence[Topic]:
        topics = self.call("loading its topics", load)
        if not isinstance(topics, Sequence):
            raise self.wrong(
                f"returned {type(topics).__name__} from load_topics; a list of topics is needed."
            )
        ids = set()
        for topic in topics:
            self.check(topic, Topic, "query")
            if topic.id in ids:
                raise self.wrong(f"has several topics with the id '{topic.id}'.")
            ids.add(topic.id)
        return topics

    def _qrels(self, load: Callable[[], object]) -> Qrels:
        qrels = self.call("loading its judgments", load)
        if not isinstance(qrels, Mapping) or not all(
            isinstance(grades, Mapping) for grades in qrels.values()
        ):
            raise self.wrong(
                "returned no judgments from load_qrels; topic to document to grade is needed."
            )
        for topic, grades in qrels.items():
            for document, grade in grades.items():
                are_ids = isinstance(topic, str) and isinstance(document, str)
                if not (are_ids and isinstance(grade, Integral) and abs(int(grade)) <= _LARGEST):
                    raise self.wrong(
                        f"gives document {quoted(document)} of topic {quoted(topic)} the grade "
                        f"{quoted(grade)}; ids are text, grades whole numbers of at most six "
                        "digits."
                    )
        return {t: {d: int(g) for d, g in grades.items()} for t, grades in qrels.items() if grades}

    def check(self, record: object, kind: type[Document | Topic], *texts: str) -> None:
        """Refuse anything but a document or topic whose id, fields and `texts` are text."""
        noun = kind.__name__
        if not isinstance(record, kind):
            raise self.wrong(f"gives {type(record).__name__} for a {noun}.")
        identifier: object = record.id
        wrong = fault(identifier) if isinstance(identifier, str) else "is not text"
        if wrong:
            raise self.wrong(f"has a {noun} whose id {quoted(identifier)} {wrong}.")
        for name in texts:
            if not isinstance(value := getattr(record, name), str):
                raise self.wrong(f"has {quoted(value)} for the {name} of {noun} {record.id}.")
        fields: object = record.fields
        if not isinstance(fields, Mapping):
            raise self.wrong(f"has {quoted(fields)} for the fields of {noun} {record.id}.")
        for name, value in fields.items():
            parts = value if isinstance(value, tuple | list) else (value,)
            if not all(isinstance(part, str) for part in (name, *parts)):
                raise self.wrong(
                    f"has {quoted(value)} for the field {quoted(name)} of {noun} {record.id}; text "
                    "or a tuple of texts is needed."
                )


class GuardedCorpus(Corpus):
    """The documents of a plugin, checked while they are read."""

    def __init__(self, corpus: Corpus, guard: Guard) -> None:
        self._corpus = corpus
        self._guard = guard
        with plugin_call(guard.title, "naming its corpus", guard.module, as_told=guard.is_builtin):
            self.name = corpus.name
            self.finds_fields = corpus.finds_fields

    @cached_property
    def fields(self) -> tuple[str, ...]:  # type: ignore[override] # may read all documents
        """Names of the documents' fields."""
        return self._guard.call(
            "naming the fields of its documents", lambda: tuple(self._corpus.fields)
        )

    @property
    def fingerprint(self) -> str:
        """The identity of the content of all documents."""
        return self._text("fingerprint")

    @property
    def texts_fingerprint(self) -> str:
        """The identity of their ids, titles and abstracts."""
        return self._text("texts_fingerprint")

    def _text(self, name: str) -> str:
        value = self._guard.call(f"giving its {name}", lambda: getattr(self._corpus, name))
        if not isinstance(value, str) or not value:
            raise self._guard.wrong(f"has the {name} {quoted(value)}; text is needed.")
        return value

    def same_documents(self, other: Corpus) -> bool:
        """Return whether another corpus has the same texts."""
        corpus = other._corpus if isinstance(other, GuardedCorpus) else other
        return self._guard.call(
            "comparing its documents with others", lambda: self._corpus.same_documents(corpus)
        )

    def __iter__(self) -> Iterator[Document]:
        documents = self._guard.call("streaming its documents", lambda: iter(self._corpus))
        while batch := self._guard.call(
            "streaming its documents", lambda: list(islice(documents, _BATCH))
        ):
            for document in batch:
                self._guard.check(document, Document, "title", "abstract")
                yield document

    def count(self) -> int | None:
        """Return the number of documents, if the plugin knows it."""
        return self._guard.call("counting its documents", self._corpus.count)

    def size_hint(self) -> int | None:
        """Return the approximate number of documents."""
        return self._guard.call("counting its documents", self._corpus.size_hint)

    def problems(self) -> Sequence[str]:
        """Return what is wrong with the description of the documents."""
        return self._guard.call("describing its documents", self._corpus.problems)
