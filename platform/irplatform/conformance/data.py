"""The data that systems are checked on: a few judged topics with BM25's candidates."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from irplatform.conformance.process import Watch
from irplatform.data import LabelledTopic, Topic, TrainingData
from irplatform.errors import InputError
from irplatform.experiment.systems import choose_systems
from irplatform.reranking.training_set import examples
from irplatform.retrieval.candidates import Request, Retrieved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.data import Collection
    from irplatform.registry.lookup import Registry
    from irplatform.resources import CollectionResources


TopicCandidates = list[tuple[Topic, tuple[str, ...]]]
"""Topics with the ids of documents."""

DOCUMENTS = 30
"""Candidates of a topic."""
_TOPICS, _VALIDATION, _TRAINING = 3, 4, 12


@dataclass(frozen=True)
class CheckData:
    """The data that systems are checked on.

    Attributes:
        resources: the platform's, on the collection's documents.
        topics: to score, with their candidates; nothing is learned from them.
        training: topics to learn from.
        validation: topics that validate it.
        watch: compares the process before and after.
    """

    resources: CollectionResources
    topics: TopicCandidates
    training: Sequence[LabelledTopic]
    validation: Sequence[LabelledTopic]
    watch: Watch = field(default_factory=Watch)

    @contextmanager
    def training_data(self) -> Iterator[TrainingData]:
        """What `fit` learns from, with a workspace that is gone afterwards."""
        with TemporaryDirectory() as workspace:
            yield TrainingData([*self.training], [*self.validation], Path(workspace))


def check_data_of(
    collection: Collection, plugins: Registry, resources: CollectionResources
) -> CheckData:
    """Search a collection, and split its judged topics.

    Raises:
        InputError: it has too few judged topics with candidates.
    """
    retrievers, _ = choose_systems(plugins, ["bm25"], [], {})
    request = Request(collection, retrievers, DOCUMENTS, DOCUMENTS, resources)
    qrels = collection.load_qrels() if collection.load_qrels else {}
    judged = examples(replace(Retrieved().find(request), qrels=qrels), resources)
    usable = [e.labelled for e in judged if len(e.labelled.candidates) > 1]
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


# What was found of one system of a plugin.


@dataclass(frozen=True)
class Finding:
    """A system of a plugin after its check.

    Attributes:
        kind: "reranker", "retriever" or "feature group"; "plugin" for what is of no system.
        name: of the system, or the plugin.
        problems: where it breaks its contract, each in a line.
        unchecked: why it could not be checked, or not to the end; "" where it was.
        remarks: what could be better, though the contract is kept.
    """

    kind: str
    name: str
    problems: Sequence[str] = ()
    unchecked: str = ""
    remarks: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """An entry of `platform plugins check --json`."""
        return {
            "kind": self.kind,
            "name": self.name,
            "problems": list(self.problems),
            "unchecked": self.unchecked or None,
            "remarks": list(self.remarks),
        }
