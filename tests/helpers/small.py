"""Small things to rank with: resources without Java, registrations, topics, documents."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from irplatform.files.digests import fingerprint
from irplatform.plugin import Document, Documents, LabelledTopic, Topic
from irplatform.registry.dependencies import ChosenSystem
from irplatform.registry.loading import registry
from irplatform.registry.registration import Plugin, Registration
from irplatform.text import ForwardIndex, WordVectors, build_forward_index, tokenize
from irplatform.text.given_texts import given_texts

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = Plugin("strange", "strange-distribution", "1.2")


def registration(reranker, name="ranker", **defaults):
    """What the registry holds for a reranker."""
    return Registration(name, "reranker", reranker, defaults, PLUGIN)


def chosen(name, kind="reranker", **settings):
    """A system that comes with the platform, with its options."""
    system = getattr(registry(), kind)(name)
    return ChosenSystem(system, system.options(settings))


def words(count: int) -> list[str]:
    """Distinct words that the tokenizer leaves alone."""
    letters = "bcdfghjklmnpqrstvwxz"
    return ["".join(pair) + "o" for pair in itertools.product(letters, letters)][:count]


def words_of(document: Document, field: str) -> list[str]:
    """The words of a document's title, its abstract, or both ("text")."""
    title, abstract = tokenize(document.title), tokenize(document.abstract)
    return {"title": title, "abstract": abstract, "text": title + abstract}[field]


def labelled(topic_id: str, candidates, judgments=None, query: str = "query") -> LabelledTopic:
    """A judged topic."""
    return LabelledTopic(Topic(topic_id, query), tuple(candidates), judgments or {})


@dataclass
class SmallResources:
    """The harness's resources, over documents in memory."""

    texts: dict[str, str] = field(default_factory=dict)
    index: ForwardIndex | None = None
    word_vectors: WordVectors | None = None
    device: str = "cpu"
    seed: int = 1
    threads: int = 1
    model_threads: int = 1
    folder: Path | None = None
    built: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    @property
    def system_seed(self):
        return self.seed

    def artifact(self, kind, depends_on, build, **_options):
        """A folder that is built once; `built` lists the kinds of those that were."""
        path = self.folder / f"{kind}-{fingerprint(depends_on)}"
        if not path.exists():
            path.mkdir(parents=True)
            build(path)
            self.built.append(kind)
        return path

    def forward_index(self):
        return self.index

    def vectors(self, options=None):
        return self.word_vectors

    def documents(self, doc_ids):
        if (texts := given_texts()) is not None:
            return Documents.of([texts.documents[doc_id] for doc_id in doc_ids])
        return Documents(doc_ids, lambda ids: [Document(i, self.texts.get(i, "")) for i in ids])

    @contextmanager
    def progress(self, label, total, unit=""):
        yield lambda steps: None

    def notice(self, message):
        self.told.append(message)


def small_resources(
    folder: Path,
    texts: dict[str, str],
    vectors: dict[str, np.ndarray],
    titles: dict[str, str] | None = None,
) -> SmallResources:
    """Resources with a forward index of the texts (and titles) and the given word vectors."""
    titles = titles or {}
    documents = (Document(doc_id, titles.get(doc_id, ""), text) for doc_id, text in texts.items())
    build_forward_index(documents, folder, workers=1)
    matrix = np.array(list(vectors.values()), dtype=np.float32)
    word_vectors = WordVectors.with_unk(list(vectors), matrix, seed=5)
    return SmallResources(
        texts, ForwardIndex.open(folder), word_vectors, folder=folder / "artifacts"
    )
