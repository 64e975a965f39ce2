"""The contract of rerankers. Subclass `Reranker` and define `score`; all else is optional.

    class DocumentLength(Reranker):
        '''Ranks longer documents first.'''

        def score(self, topic: Topic, documents: Documents) -> list[float]:
            return [len(document.text) for document in documents]

The order in which methods are called is in `irplatform.plugin.declarations`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from irplatform.errors import InputError
from irplatform.plugin.declarations import Declared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Documents, Topic, TrainingData
    from irplatform.plugin.resources import Resources


class Reranker(Declared):
    """Scores the candidates of a topic.

    Attributes:
        presets: named settings (`preset`), by name: `{"paper": {"loop.epochs": 50}}`.
    """

    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    def prepare(self, resources: Resources) -> None:
        """Take resources; called once, before `fit`, `load` and `score`."""

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents for a topic.

        Texts are read at first use: if `documents.ids` are enough, leave the documents unread.

        Returns:
            One finite number per document, within the range of a 32-bit float, higher is better,
            independent of the order and number of the documents.
        """
        if type(self).score_batch is Reranker.score_batch:
            raise NotImplementedError(f"{type(self).__name__} does not define score()")
        return self.score_batch([(topic, documents)])[0]

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """Score several topics at once; override it, with or without `score`, for speed."""
        return [self.score(topic, documents) for topic, documents in batch]

    def rescore(
        self, topic: Topic, documents: Documents, scores: Sequence[float]
    ) -> Sequence[float]:
        """Change scores once all candidates of a topic are scored.

        Override it if scores depend on one another, as those of `score` must not. A run calls it on
        one member, with the members' averaged scores. A stack of `ltr` reads the scores of `score`.

        Args:
            topic: the topic.
            documents: all candidates, at least one; best of the first stage first in a run.
            scores: their scores.

        Returns:
            One finite number per document, higher is better. They may depend on the order of the
            documents if `Traits.listwise` says so.
        """
        del topic, documents
        return scores

    def rescore_batch(
        self, batch: Sequence[tuple[Topic, Documents, Sequence[float]]]
    ) -> list[Sequence[float]]:
        """Rescore several topics; override it if that is faster, as where a server is asked."""
        return [self.rescore(topic, documents, scores) for topic, documents, scores in batch]

    def explain(self, topic: Topic, documents: Documents) -> Sequence[Mapping[str, object]]:
        """Explain the scores of documents, for `platform explain`.

        Returns:
            One mapping per document, as JSON: `score`, and what made it, under readable names.
            Numbers and words become lines, a list of mappings a table, a mapping a section.

        Raises:
            InputError: this reranker does not explain its scores.
        """
        del topic, documents
        raise InputError(f"{type(self).__name__} does not explain its scores.")


class TrainableReranker(Reranker):
    """A reranker that learns from judged topics."""

    def fit(self, data: TrainingData) -> None:
        """Learn; the same data, options, seed and versions must give the same weights.

        After pre-training, `load` is called first: continue from the loaded weights.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define fit()")

    def save(self, folder: Path) -> None:
        """Write the learned state to an empty folder, without pickles."""
        raise NotImplementedError(f"{type(self).__name__} does not define save()")

    def load(self, folder: Path) -> None:
        """Read what `save` wrote."""
        raise NotImplementedError(f"{type(self).__name__} does not define load()")
