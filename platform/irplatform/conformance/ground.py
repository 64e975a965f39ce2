"""What systems are tried on: a few judged topics with BM25's candidates."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from irplatform import pipeline
from irplatform.choices import choose_systems
from irplatform.errors import InputError
from irplatform.plugin import LabelledTopic, Topic, TrainingData

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.collections import Collection
    from irplatform.registry import Registry
    from irplatform.resources import CollectionResources

Asked = list[tuple[Topic, tuple[str, ...]]]
"""Topics with the ids of documents."""

DOCUMENTS = 30
"""Candidates of a topic."""
_ASKED, _VALIDATION, _TRAINING = 3, 4, 12


@dataclass(frozen=True)
class Ground:
    """What systems are tried on.

    Attributes:
        resources: the harness's, on the collection's documents.
        asked: topics to score, with their candidates; nothing is learned from them.
        training: topics to learn from.
        validation: topics that validate it.
    """

    resources: CollectionResources
    asked: Asked
    training: Sequence[LabelledTopic]
    validation: Sequence[LabelledTopic]

    @contextmanager
    def data(self) -> Iterator[TrainingData]:
        """What `fit` learns from, with a workspace that is gone afterwards."""
        with TemporaryDirectory() as workspace:
            yield TrainingData([*self.training], [*self.validation], Path(workspace))


def ground_on(collection: Collection, plugins: Registry, resources: CollectionResources) -> Ground:
    """Search a collection, and part its judged topics.

    Raises:
        InputError: it has too few judged topics with candidates.
    """
    retrievers, _ = choose_systems(plugins, ["bm25"], [], {})
    candidates = pipeline.search(collection, retrievers, DOCUMENTS, DOCUMENTS, resources)
    qrels = collection.load_qrels() if collection.load_qrels else {}
    examples = candidates.examples(qrels, resources)
    usable = [e.labelled for e in examples if len(e.labelled.candidates) > 1]
    if len(usable) < _ASKED + 2:
        raise InputError(
            f"'{collection.id}' has {len(usable)} judged topics with candidates; "
            f"{_ASKED + 2} are needed to check a plugin."
        )
    asked = [(labelled.topic, labelled.candidates) for labelled in usable[:_ASKED]]
    rest = usable[_ASKED:]
    validating = min(_VALIDATION, len(rest) // 2)
    training = rest[validating : validating + _TRAINING]
    return Ground(resources, asked, training, rest[:validating])
