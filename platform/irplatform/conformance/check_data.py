"""The data that systems are checked on: a few judged topics with BM25's candidates."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from irplatform import pipeline
from irplatform.choices import choose_systems
from irplatform.conformance.process import Watch
from irplatform.errors import InputError
from irplatform.plugin import LabelledTopic, Topic, TrainingData

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.collections import Collection
    from irplatform.registry import Registry
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
    candidates = pipeline.search(collection, retrievers, DOCUMENTS, DOCUMENTS, resources)
    qrels = collection.load_qrels() if collection.load_qrels else {}
    examples = candidates.examples(qrels, resources)
    usable = [e.labelled for e in examples if len(e.labelled.candidates) > 1]
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
