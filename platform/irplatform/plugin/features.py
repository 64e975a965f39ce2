"""The contract of groups of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from irplatform.options import Options as BaseOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from irplatform.data import Documents, TextPair, Topic, TrainingData
    from irplatform.plugin.resources import Resources


class FeatureGroup:
    """Features that belong together, for learning to rank. Override `names` and `compute`.

    Attributes:
        Options: the class of its options.
        citation: where the features come from.
        reads_knowledge: whether features change with knowledge bases: those of an option
            `knowledge`, where a group has one and it says so, else all that are installed.
        holds_first_stage: whether a first stage's score of the whole query is among them.
        options: the options of this instance.
    """

    Options: ClassVar[type[BaseOptions]] = BaseOptions
    citation: ClassVar[str] = ""
    reads_knowledge: ClassVar[bool] = False
    holds_first_stage: ClassVar[bool] = False

    def __init__(self, options: BaseOptions | None = None) -> None:
        self.options: BaseOptions = options if options is not None else type(self).Options()

    @property
    def needs(self) -> Sequence[str]:
        """Modules that the platform's core does not bring and that it imports: `("torch",)`.

        Where one is missing, a command says so before it begins. A plain attribute will do.
        """
        return ()

    def depends_on(self) -> Mapping[str, object]:
        """The cache key of its features and of models that learn from them, as a reranker's.

        Name whatever can change a feature and is not among the options, the documents, the topics,
        the word vectors and the source of the plugin. If something is missing here, features and
        models of before are used again. Called before any work, on an instance that is not
        prepared.

        Raises:
            InputError: the options do not fit together, or name what there is not.
        """
        return {}

    def prepare(self, resources: Resources) -> None:
        """Take what is needed from the platform; called once, before anything else."""

    def lacks(self, topics: Sequence[Topic]) -> str:
        """What these topics lack to have such features; "" where nothing is lacking.

        Called once with the topics of training and validation; a group that lacks something is left
        out.
        """
        del topics
        return ""

    def names(self) -> tuple[str, ...]:
        """The features' names."""
        raise NotImplementedError(f"{type(self).__name__} does not define names()")

    def compute(self, topic: Topic, documents: Documents) -> npt.NDArray[np.float32]:
        """Features of documents for a topic.

        Returns:
            float32 [len(documents), len(names())], finite; a document's features do not depend on
            the other documents.
        """
        if type(self).compute_batch is FeatureGroup.compute_batch:
            raise NotImplementedError(f"{type(self).__name__} does not define compute()")
        return self.compute_batch([(topic, documents)])[0]

    def compute_batch(
        self, batch: Sequence[tuple[Topic, Documents]]
    ) -> list[npt.NDArray[np.float32]]:
        """Features for several topics at once; override it where that is faster.

        `compute` may then be left out: it asks this for its one topic.
        """
        return [self.compute(topic, documents) for topic, documents in batch]

    def prepared_with(self) -> Mapping[str, object]:
        """What else its features depend on, once it is prepared, as JSON.

        It is part of the features' cache key, not of models': what differs between collections, or
        comes with the resources, such as the seed where something is drawn.
        """
        return {}

    def checkpoints(self) -> Sequence[Path]:
        """Folders of the checkpoints whose scores are features, as a reranker's.

        Called on an instance that is not prepared.
        """
        return ()


class TrainableFeatureGroup(FeatureGroup):
    """Features that are learned from judged topics.

    A reranker that learns from them fits a fresh instance per fold of its training topics, so that
    no topic's features come from its own judgments.

    Attributes:
        remembers_documents: whether a document's judgments in other topics are meant to show; else
            what a fold's topics judge is kept from the instance that computes their features.
    """

    remembers_documents: ClassVar[bool] = False

    def check_training(self) -> None:
        """See that what it learns from beside topics is there, as a reranker's."""

    def pairs_learned(self, topics: Sequence[Topic]) -> Iterable[TextPair]:
        """Pairs of texts that it learns from beside topics, as a reranker's."""
        del topics
        return ()

    def fit(self, data: TrainingData) -> None:
        """Learn. Must be repeatable, as a reranker's."""
        raise NotImplementedError(f"{type(self).__name__} does not define fit()")

    def save(self, folder: Path) -> None:
        """Write what was learned into an empty folder, without pickles."""
        raise NotImplementedError(f"{type(self).__name__} does not define save()")

    def load(self, folder: Path) -> None:
        """Read what `save` wrote."""
        raise NotImplementedError(f"{type(self).__name__} does not define load()")
