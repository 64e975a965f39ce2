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
        presets: name to settings, as `--set` takes them, that `--preset NAME` puts in place of
            defaults: `{"paper": {"filters": 64, "loop.epochs": 50}}`.
    """

    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    def prepare(self, resources: Resources) -> None:
        """Take what is needed from the platform; called once, before `fit`, `load` and `score`."""

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents for a topic.

        Look at `documents.ids` alone where vectors of all documents are stored: texts are read
        when a document is first looked at. `Documents.of` makes documents of texts that are in no
        index.

        Returns:
            One finite number per document, within the range of a 32-bit float, higher is better,
            independent of the order and number of the documents.
        """
        if type(self).score_batch is Reranker.score_batch:
            raise NotImplementedError(f"{type(self).__name__} does not define score()")
        return self.score_batch([(topic, documents)])[0]

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """Score several topics at once; override it where that is faster.

        `score` may then be left out: it asks this for its one topic.
        """
        return [self.score(topic, documents) for topic, documents in batch]

    def rescore(
        self, topic: Topic, documents: Documents, scores: Sequence[float]
    ) -> Sequence[float]:
        """Change scores once all candidates of a topic are scored.

        Override it where scores depend on one another, which those of `score` must not. A run asks
        one member for it, after the members' scores were averaged. So do the choice of the first
        stage's share and `platform explain`; the scores that `ltr` reads of its stack, and
        benchmarks, are those of `score`.

        Args:
            topic: the topic.
            documents: all of its candidates, at least one; best of the first stage first in a run.
            scores: theirs.

        Returns:
            One finite number per document, higher is better. They may depend on the order of the
            documents if `Traits.listwise` says so.
        """
        del topic, documents
        return scores

    def explain(self, topic: Topic, documents: Documents) -> Sequence[Mapping[str, object]]:
        """Say where the scores of some documents come from, for `platform explain`.

        Returns:
            One mapping per document, as JSON: at least `score`, what `score` gives it, and under
            names for a reader whatever made it. Numbers and words become lines, a list of
            mappings with the same names becomes a table, a mapping becomes a part with a heading.

        Raises:
            InputError: this reranker does not explain its scores.
        """
        del topic, documents
        raise InputError(f"{type(self).__name__} does not explain its scores.")


class TrainableReranker(Reranker):
    """A reranker that learns from judged topics."""

    def fit(self, data: TrainingData) -> None:
        """Learn. Must be repeatable: same data, options, seed and versions, same weights.

        Called after `load` where there was pre-training: go on from the weights that were loaded.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define fit()")

    def save(self, folder: Path) -> None:
        """Write what was learned into an empty folder, without pickles."""
        raise NotImplementedError(f"{type(self).__name__} does not define save()")

    def load(self, folder: Path) -> None:
        """Read what `save` wrote."""
        raise NotImplementedError(f"{type(self).__name__} does not define load()")
