"""The contract of groups of features. Subclass `FeatureGroup`; define `names` and `compute`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.plugin.declarations import Declared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from irplatform.data import Documents, Topic, TrainingData
    from irplatform.plugin.resources import Resources


class FeatureGroup(Declared):
    """Features that belong together, for learning to rank."""

    def prepare(self, resources: Resources) -> None:
        """Take resources; called once, before all methods below."""

    def lacks(self, topics: Sequence[Topic]) -> str:
        """Return what topics lack for these features, or "".

        Called with the topics of training and validation; a group that lacks something is left out.
        """
        del topics
        return ""

    def names(self) -> tuple[str, ...]:
        """Return the features' names."""
        raise NotImplementedError(f"{type(self).__name__} does not define names()")

    def compute(self, topic: Topic, documents: Documents) -> npt.NDArray[np.float32]:
        """Return finite features, float32 [len(documents), len(names())].

        A document's features do not depend on the other documents.
        """
        if type(self).compute_batch is FeatureGroup.compute_batch:
            raise NotImplementedError(f"{type(self).__name__} does not define compute()")
        return self.compute_batch([(topic, documents)])[0]

    def compute_batch(
        self, batch: Sequence[tuple[Topic, Documents]]
    ) -> list[npt.NDArray[np.float32]]:
        """Return features for several topics; override it, with or without `compute`, for speed."""
        return [self.compute(topic, documents) for topic, documents in batch]

    def prepared_with(self) -> Mapping[str, object]:
        """Return facts of the resources that its features depend on, as JSON.

        They are in the cache key of features, not of models, and differ between collections (word
        vectors) or runs (the seed).
        """
        return {}


class TrainableFeatureGroup(FeatureGroup):
    """Features that are learned from judged topics.

    A reranker that learns from them fits a fresh instance per fold of its training topics, so that
    no topic's features come from its own judgments.
    """

    def fit(self, data: TrainingData) -> None:
        """Learn, repeatably, as a reranker does."""
        raise NotImplementedError(f"{type(self).__name__} does not define fit()")

    def save(self, folder: Path) -> None:
        """Write the learned state to an empty folder, without pickles."""
        raise NotImplementedError(f"{type(self).__name__} does not define save()")

    def load(self, folder: Path) -> None:
        """Read what `save` wrote."""
        raise NotImplementedError(f"{type(self).__name__} does not define load()")
