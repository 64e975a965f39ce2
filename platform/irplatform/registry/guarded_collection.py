"""A plugin's collection, guarded: what it streams and loads is checked where it comes in.

Whatever is wrong with its documents, topics or judgments would fail in the index, a run file or a
measure, far from who gave it, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from numbers import Integral
from typing import TYPE_CHECKING

from irplatform.collections import Collection, Corpus
from irplatform.errors import PluginError, quoted
from irplatform.ids import fault
from irplatform.plugin import Document, Topic
from irplatform.registry.plugin_calls import plugin_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from irplatform.collections import Qrels

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""It is part of paths."""
_LARGEST = 999_999
"""As of grades in files: trec_eval counts with 32 bits, and takes memory for every grade."""
_FUNCTIONS = {
    "load_topics": "a list of topics",
    "load_qrels": "topic to document to grade",
    "training": "a Collection",
    "validation": "a Collection",
}
"""What a collection's functions return; all but the first may be missing."""
_BATCH = 1000
"""Documents that are asked for at a time."""


@dataclass(frozen=True)
class Guard:
    """Who brought a collection, for messages.

    Attributes:
        who: the collection and its plugin.
        module: where its code is.
        ours: whether it comes with the platform.
    """

    who: str
    module: str
    ours: bool

    def plugin_call(self, doing: str) -> AbstractContextManager[None]:
        """Within it, what goes wrong in the plugin's code names the plugin and the place."""
        return plugin_call(self.who, doing, self.module, as_told=self.ours)

    def wrong(self, problem: str) -> PluginError:
        """What the plugin gave is not what a collection has."""
        return PluginError(f"{self.who} {problem}")

    def collection(self, collection: object) -> Collection:
        """A collection, guarded.

        Raises:
            PluginError: it is none.
        """
        if not isinstance(collection, Collection):
            raise self.wrong(f"is {type(collection).__name__}, not a Collection.")
        corpus = collection.corpus
        if not isinstance(corpus, Corpus):
            raise self.wrong(f"has {type(corpus).__name__} for its corpus, not a Corpus.")
        if not isinstance(collection.id, str) or not _ID.fullmatch(collection.id):
            raise self.wrong(
                f"has the id {quoted(collection.id)}; take letters, digits, '.', '_' and '-'."
            )
        for name, returned in _FUNCTIONS.items():
            function = getattr(collection, name)
            if not callable(function) and (function is not None or name == "load_topics"):
                raise self.wrong(
                    f"has {quoted(function)} for its {name}; a function that returns {returned} is "
                    "needed."
                )
        measures: object = collection.measures
        if not isinstance(measures, list | tuple) or not all(isinstance(m, str) for m in measures):
            raise self.wrong(
                f"has {quoted(measures)} for its measures; a tuple of names is needed."
            )
        metadata: object = collection.metadata
        if not isinstance(metadata, Mapping):
            raise self.wrong(f"has {quoted(metadata)} for its metadata; a mapping is needed.")
        bases: object = collection.expand
        if not isinstance(bases, list | tuple) or not all(isinstance(b, str) for b in bases):
            raise self.wrong(
                f"has {quoted(bases)} for its expand; a tuple of names of knowledge bases is "
                "needed."
            )
        return replace(
            collection,
            # Another plugin's answers for itself
            corpus=corpus if isinstance(corpus, GuardedCorpus) else GuardedCorpus(corpus, self),
            load_topics=partial(self._topics, collection.load_topics),
            load_qrels=collection.load_qrels and partial(self._qrels, collection.load_qrels),
            training=collection.training
            and partial(self._partner, collection.training, "training"),
            validation=collection.validation
            and partial(self._partner, collection.validation, "validation"),
        )

    def _partner(self, load: Callable[[], object], kind: str) -> Collection:
        with self.plugin_call(f"naming its {kind} collection"):
            partner = load()
        return replace(self, who=f"the {kind} collection of {self.who}").collection(partner)

    def _topics(self, load: Callable[[], object]) -> Sequence[Topic]:
        with self.plugin_call("loading its topics"):
            topics = load()
        if not isinstance(topics, Sequence):
            raise self.wrong(
                f"returned {type(topics).__name__} from load_topics; a list of topics is needed."
            )
        if not topics:
            raise self.wrong("has no topics.")
        ids = set()
        for topic in topics:
            if not isinstance(topic, Topic):
                raise self.wrong(f"has {type(topic).__name__} among its topics, not a Topic.")
            self.check_id(topic.id, "topic")
            if topic.id in ids:
                raise self.wrong(f"has several topics with the id '{topic.id}'.")
            ids.add(topic.id)
            self.check_text(topic.query, f"the query of topic {topic.id}")
            self.check_fields(topic.fields, f"topic {topic.id}")
        return topics

    def _qrels(self, load: Callable[[], object]) -> Qrels:
        with self.plugin_call("loading its judgments"):
            qrels = load()
        if not isinstance(qrels, Mapping) or not all(
            isinstance(grades, Mapping) for grades in qrels.values()
        ):
            raise self.wrong(
                "returned no judgments from load_qrels: topic to document to grade is needed."
            )
        for topic, grades in qrels.items():
            self.check_id(topic, "judged topic")
            for document, grade in grades.items():
                self.check_id(document, "judged document")
                if not isinstance(grade, Integral) or abs(int(grade)) > _LARGEST:
                    raise self.wrong(
                        f"gives document {document} of topic {topic} the grade {quoted(grade)}; "
                        "grades are whole numbers of at most six digits."
                    )
        return {t: {d: int(g) for d, g in grades.items()} for t, grades in qrels.items() if grades}

    def check_id(self, identifier: object, of: str) -> None:
        """Refuse what a run file or an index cannot hold as an id."""
        if not isinstance(identifier, str) or identifier.split() != [identifier]:
            raise self.wrong(
                f"has a {of} with the id {quoted(identifier)}; ids are text without white space."
            )
        if wrong := fault(identifier):
            raise self.wrong(f"has a {of} whose id {quoted(identifier)} {wrong}.")

    def check_text(self, text: object, what: str) -> None:
        """Refuse what is no text."""
        if not isinstance(text, str):
            raise self.wrong(f"has {type(text).__name__} for {what}, not text.")

    def check_fields(self, fields: object, of: str) -> None:
        """Refuse fields that are neither text nor several texts."""
        if not isinstance(fields, Mapping):
            raise self.wrong(f"has {type(fields).__name__} for the fields of {of}, not a mapping.")
        for name, value in fields.items():
            self.check_text(name, f"the name of a field of {of}")
            texts = value if isinstance(value, tuple | list) else (value,)
            if not all(isinstance(text, str) for text in texts):
                raise self.wrong(
                    f"has {quoted(value)} for the field '{name}' of {of}; text is needed, or a "
                    "tuple of texts."
                )


class GuardedCorpus(Corpus):
    """The documents of a plugin, checked as they come.

    Args:
        corpus: the documents.
        guard: who brought them.
    """

    def __init__(self, corpus: Corpus, guard: Guard) -> None:
        self._corpus = corpus
        self._guard = guard
        with guard.plugin_call("naming its corpus"):
            self.name = corpus.name
            self.finds_fields = corpus.finds_fields
            self.promises_titles = corpus.promises_titles

    @cached_property
    def fields(self) -> tuple[str, ...]:  # type: ignore[override] # some read all documents for it
        """Names of the documents' fields."""
        with self._guard.plugin_call("naming the fields of its documents"):
            return tuple(self._corpus.fields)

    @property
    def fingerprint(self) -> str:
        """What stands for the documents."""
        with self._guard.plugin_call("saying what its documents are known by"):
            return self._checked(self._corpus.fingerprint)

    @property
    def texts_fingerprint(self) -> str:
        """What stands for their ids, titles and abstracts."""
        with self._guard.plugin_call("saying what its texts are known by"):
            return self._checked(self._corpus.texts_fingerprint)

    def _checked(self, fingerprint: object) -> str:
        if not isinstance(fingerprint, str) or not fingerprint:
            raise self._guard.wrong(f"has the fingerprint {quoted(fingerprint)}; text is needed.")
        return fingerprint

    def same_documents(self, other: Corpus) -> bool:
        """Whether another corpus has the same texts, as the plugin's knows it."""
        theirs = other._corpus if isinstance(other, GuardedCorpus) else other
        with self._guard.plugin_call("comparing its documents with others"):
            return bool(self._corpus.same_documents(theirs))

    def __iter__(self) -> Iterator[Document]:
        with self._guard.plugin_call("streaming its documents"):
            documents = iter(self._corpus)
        while True:
            with self._guard.plugin_call("streaming its documents"):
                batch = list(islice(documents, _BATCH))
            for document in batch:
                self._check(document)
                yield document
            if len(batch) < _BATCH:
                return

    def count(self) -> int | None:
        """How many documents there are, where the plugin knows."""
        with self._guard.plugin_call("counting its documents"):
            return self._corpus.count()

    def size_hint(self) -> int | None:
        """About how many documents there are."""
        with self._guard.plugin_call("counting its documents"):
            return self._corpus.size_hint()

    def problems(self) -> Sequence[str]:
        """What is wrong with what was said of the documents."""
        with self._guard.plugin_call("telling of its documents"):
            return self._corpus.problems()

    def _check(self, document: object) -> None:
        guard = self._guard
        if not isinstance(document, Document):
            raise guard.wrong(f"streams {type(document).__name__}, not a Document.")
        guard.check_id(document.id, "document")
        guard.check_text(document.title, f"the title of document {document.id}")
        guard.check_text(document.abstract, f"the abstract of document {document.id}")
        guard.check_fields(document.fields, f"document {document.id}")
