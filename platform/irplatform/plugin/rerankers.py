"""The contract of rerankers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from irplatform.errors import InputError
from irplatform.options import Options as BaseOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Documents, TextPair, Topic, TrainingData
    from irplatform.plugin.resources import Resources


class Reranker:
    """Scores the candidates of a topic. Subclass it and override `score`.

    Attributes:
        Options: the class of its options.
        citation: the paper that it implements, with section.
        presets: name to settings, as `--set` takes them, that `--preset NAME` puts in place of
            defaults: `{"paper": {"filters": 64, "loop.epochs": 50}}`.
        wants_expansion: whether it is made for expanded queries. Where all rerankers of a run are,
            and topics have a disease or a gene, `--expand` is on unless the user says otherwise.
        options: the options of this instance.
    """

    Options: ClassVar[type[BaseOptions]] = BaseOptions
    citation: ClassVar[str] = ""
    wants_expansion: ClassVar[bool] = False
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    def __init__(self, options: BaseOptions | None = None) -> None:
        self.options: BaseOptions = options if options is not None else type(self).Options()

    @property
    def needs(self) -> Sequence[str]:
        """Modules that the platform's core does not bring and that it imports: `("torch",)`.

        Where one is missing, a command says so before it begins. A plain attribute will do.
        """
        return ()

    def expanding(self, knowledge: tuple[str, ...]) -> BaseOptions:
        """Its options where a run expands its queries with some knowledge bases.

        One that reads knowledge bases reads these, unless its options name others: the same command
        then gives the same scores whatever else is installed. Called on an instance that is not
        prepared.

        Args:
            knowledge: names of the knowledge bases.
        """
        del knowledge
        return self.options

    def prepare(self, resources: Resources) -> None:
        """Take what is needed from the platform; called once, before `fit`, `load` and `score`."""

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents for a topic.

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

    def among_candidates(
        self, topic: Topic, documents: Documents, scores: Sequence[float]
    ) -> Sequence[float]:
        """What scores become once those of all candidates of a topic are known.

        Override it where they depend on one another, which those of `score` must not. A run asks
        one member for it, after the members' scores were averaged. So do the choice of the first
        stage's share and `platform explain`; the scores that `ltr` reads of its stack, and
        benchmarks, are those of `score`.

        Args:
            topic: the topic.
            documents: all of its candidates, at least one, in any order.
            scores: theirs.

        Returns:
            One finite number per document, higher is better, whatever their order.
        """
        del topic, documents
        return scores

    def explain(self, topic: Topic, documents: Documents) -> Sequence[Mapping[str, object]]:
        """Say where the scores of some documents come from, for `platform explain`.

        Override it where there is something to tell. It is called after `score` could be.

        Returns:
            One mapping per document, as JSON: at least `score`, what `score` gives it, and under
            names for a reader whatever made it. Numbers and words become lines, a list of
            mappings with the same names becomes a table, a mapping becomes a part with a heading.

        Raises:
            InputError: this reranker does not explain its scores.
        """
        del topic, documents
        raise InputError(f"{type(self).__name__} does not explain its scores.")

    def holds_first_stage(self) -> bool:
        """Whether it has weighed the first stage's score well enough to stand alone.

        Such a reranker is not mixed with the first stage again, unless the user says so. Called on
        an instance that is not prepared.
        """
        return False

    def learns_on_device(self) -> bool:
        """Whether members use the device of the resources while they learn.

        On a GPU, which may hold one model only, they then follow one another. Where they do not,
        they learn side by side on machines with a GPU, too. Called on an instance that is not
        prepared.
        """
        return True

    def depends_on(self) -> Mapping[str, object]:
        """The cache key of its scores and models, beside what the platform knows, as JSON.

        Name whatever can change a score and is not among the options, the documents, the training
        data and the source of the plugin, such as the digest of another file or the version of
        another plugin. If something is missing here, results of before are used again. Called on
        an instance that is not prepared.
        """
        return {}

    def checkpoints(self) -> Sequence[Path]:
        """Folders of the checkpoints whose scores it reads, which its options name.

        What these learned from counts as learned by this one: a run that evaluates on such topics
        says so. One that reads groups of features answers with `named_groups` of
        `irplatform.features`. Called on an instance that is not prepared.
        """
        return ()


class TrainableReranker(Reranker):
    """A reranker that learns from judged topics.

    Attributes:
        pretrained_on: what it learns from first unless `--pretrain` says otherwise: "mesh", for
            MeSH-term queries of collections with headings, or "" for nothing.
        pretrained_as: a name under which variants of it, registered under other names, share one
            pre-training where `options_of_pretraining` are the same; "" shares none.
    """

    pretrained_on: ClassVar[str] = ""
    pretrained_as: ClassVar[str] = ""

    def options_of_pretraining(self) -> BaseOptions:
        """Its options, as pre-training is done with them.

        Pre-training is done anew when they change: leave out of them what it does not heed. Called
        on an instance that is not prepared.

        Raises:
            InputError: it cannot be pre-trained with these.
        """
        return self.options

    def check_training(self) -> None:
        """See that what it learns from beside topics is there, such as a file of pairs.

        Asked before any work of a reranker that will be trained, not of one whose checkpoint is
        used. Called on an instance that is not prepared.

        Raises:
            InputError: it is not.
        """

    def pairs_learned(self, topics: Sequence[Topic]) -> Iterable[TextPair]:
        """Pairs of texts that it learns from beside topics, such as those of a file.

        A run that evaluates on what asks in them says so. One that reads groups of features answers
        with `named_groups` of `irplatform.features`. Called on an instance that is not prepared.

        Args:
            topics: those that `fit` is given, the unseen ones included; pairs that are left out
                because of them are left out here, too.
        """
        del topics
        return ()

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
