"""The data that a plugin's systems are checked on: a few judged topics with BM25's candidates."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from irplatform.collection_resources import CollectionResources
from irplatform.conformance.process import AnotherProcess, TopicCandidates
from irplatform.conformance.watch import Watch
from irplatform.data import Document, Documents, LabelledTopic, TrainingData
from irplatform.errors import InputError
from irplatform.experiment.systems import choose_systems
from irplatform.reranking.training_set import examples
from irplatform.retrieval.first_stage import FirstStage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.data import Collection, Corpus
    from irplatform.registry.lookup import Registry


DOCUMENTS = 30
"""Candidates of a topic."""
_TOPICS, _VALIDATION, _TRAINING = 3, 4, 12
_SEED = 42
_MOST_IN_MEMORY = 5000
"""Documents of a collection that is held in memory."""


@dataclass
class InMemory(CollectionResources):
    """Resources with documents in memory, for which Java need not start."""

    texts: Mapping[str, Document] = field(default_factory=dict)

    def documents(self, doc_ids: Sequence[str]) -> Documents:
        """Return documents by id."""
        if not all(doc_id in self.texts for doc_id in doc_ids):
            return super().documents(doc_ids)
        return Documents(doc_ids, lambda ids: [self.texts[doc_id] for doc_id in ids])


def resources_of(corpus: Corpus, device: str, threads: int) -> CollectionResources:
    """Return the resources of a corpus with the seed 42, in memory if it is small."""
    if (corpus.size_hint() or _MOST_IN_MEMORY) < _MOST_IN_MEMORY:
        texts = {document.id: document for document in corpus}
        return InMemory(corpus, device, _SEED, threads, texts=texts)
    return CollectionResources(corpus, device, _SEED, threads)


@dataclass(frozen=True)
class CheckData:
    """The data that systems are checked on: topics to score with their candidates, and others.

    `remarks` are possible improvements that checks found.
    """

    resources: CollectionResources
    topics: TopicCandidates
    training: Sequence[LabelledTopic]
    validation: Sequence[LabelledTopic]
    watch: Watch = field(default_factory=Watch)
    process: AnotherProcess = field(default_factory=AnotherProcess)
    remarks: list[str] = field(default_factory=list)

    @property
    def learned_from(self) -> TopicCandidates:
        """The first and the last topic of the training, with candidates and relevant documents."""
        return [
            (example.topic, tuple(dict.fromkeys([*example.candidates, *_relevant(example)])))
            for example in (*self.training[:1], *self.training[1:][-1:])
        ]

    @contextmanager
    def training_data(self) -> Iterator[TrainingData]:
        """Yield data for `fit`, with a temporary workspace."""
        with TemporaryDirectory() as workspace:
            yield TrainingData([*self.training], [*self.validation], Path(workspace))


def judged_topics(
    collection: Collection, plugins: Registry, resources: CollectionResources
) -> list[LabelledTopic]:
    """Search a collection with BM25; return its judged topics that have two candidates or more."""
    retrievers, _ = choose_systems(plugins, ["bm25"], [], {})
    first_stage = FirstStage(choices=retrievers, depth=DOCUMENTS, rerank_depth=DOCUMENTS)
    candidates = first_stage.candidates(collection, resources)
    judged = examples(replace(candidates, qrels=collection.qrels), resources)
    return [e.labelled for e in judged if len(e.labelled.candidates) > 1]


def check_data_of(
    collection: Collection, plugins: Registry, resources: CollectionResources
) -> CheckData:
    """Split the judged topics of a collection; InputError if they are too few."""
    usable = judged_topics(collection, plugins, resources)
    if len(usable) < _TOPICS + 2:
        raise InputError(
            f"'{collection.id}' has {len(usable)} judged topics with two candidates "
            f"or more; {_TOPICS + 2} are needed to check a plugin."
        )
    topics = [(labelled.topic, labelled.candidates) for labelled in usable[:_TOPICS]]
    rest = usable[_TOPICS:]
    validation_size = min(_VALIDATION, len(rest) // 2)
    training = rest[validation_size : validation_size + _TRAINING]
    return CheckData(resources, topics, training, rest[:validation_size])


def _relevant(labelled: LabelledTopic) -> list[str]:
    return [doc_id for doc_id, grade in labelled.judgments.items() if grade > 0]


@dataclass(frozen=True)
class Finding:
    """The result of a system's check.

    Attributes:
        kind: "reranker", "retriever", "feature group", "judge", "measure", "collection", "tasks",
            "results", "knowledge format", "hooks" or "plugin".
        name: the system's name.
        checks: the checks that were made, in order, and the breaches of the contract that each
            found.
        unchecked: why the check is incomplete, or "".
        remarks: possible improvements.
    """

    kind: str
    name: str
    checks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unchecked: str = ""
    remarks: Sequence[str] = ()

    @property
    def problems(self) -> list[str]:
        """All breaches of the contract."""
        return [problem for problems in self.checks.values() for problem in problems]

    def as_json(self) -> dict[str, Any]:
        """Return an entry in the JSON object of `platform plugins check`."""
        return {
            "kind": self.kind,
            "name": self.name,
            "problems": self.problems,
            "unchecked": self.unchecked or None,
            "remarks": [*self.remarks],
            "checks": [*self.checks],
        }
