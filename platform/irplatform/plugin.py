"""The plugin contract: the one file that an author of a reranker, retriever or collection reads.

A plugin is a Python package with an entry point in the group `irplatform` that names a module (or
object) with hook implementations:

    from irplatform.plugin import Documents, Reranker, Topic, hookimpl

    class DocumentLength(Reranker):
        '''Ranks longer documents first.'''

        def score(self, topic: Topic, documents: Documents) -> list[float]:
            return [len(document.text) for document in documents]

    @hookimpl
    def register_rerankers(register):
        register("document-length", DocumentLength)

and in its pyproject.toml:

    [project.entry-points.irplatform]
    document-length = "my_package"

Once it is installed, `platform run --reranker document-length` finds it. Plugins import this
module, `irplatform.plugin`, and the helpers `irplatform.text`, `irplatform.training`,
`irplatform.features`, `irplatform.retrieval`, `irplatform.knowledge`, `irplatform.concepts`,
`irplatform.runs`, `irplatform.collections`, `irplatform.storage`, `irplatform.json_io`,
`irplatform.digests` and `irplatform.errors`, and, in a command, `irplatform.registry`; nothing else
of the platform. Import heavy modules (torch, spacy) inside the functions that need them: every
command loads every plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Protocol, overload

import pluggy
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from irplatform.errors import InputError
from irplatform.option_types import is_number, type_in_words

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    import click
    import numpy as np
    import numpy.typing as npt

    from irplatform.collections import Collection
    from irplatform.concepts.graph import ConceptGraph
    from irplatform.concepts.options import ConceptOptions
    from irplatform.knowledge import Format
    from irplatform.retrieval import LuceneIndex
    from irplatform.runs import Run
    from irplatform.text import ForwardIndex, VectorOptions, WordVectors

__all__ = [
    "Document",
    "Documents",
    "FeatureGroup",
    "Field",
    "FieldValue",
    "LabelledTopic",
    "Options",
    "RegisterCollection",
    "RegisterFeatures",
    "RegisterKnowledge",
    "RegisterMeasure",
    "RegisterReranker",
    "RegisterResults",
    "RegisterRetriever",
    "Reranker",
    "Resources",
    "Retriever",
    "RunEvent",
    "TextPair",
    "Topic",
    "TrainableFeatureGroup",
    "TrainableReranker",
    "TrainingData",
    "hookimpl",
]

hookimpl = pluggy.HookimplMarker("irplatform")
hookspec = pluggy.HookspecMarker("irplatform")

FieldValue = str | tuple[str, ...]
"""A field of a document or topic: text, or several values (MeSH headings, say)."""


_NO_FIELDS: Mapping[str, FieldValue] = MappingProxyType({})


def _values(field: FieldValue | None) -> tuple[str, ...]:
    return (field,) if isinstance(field, str) else tuple(field or ())


def _anew(original: Document | Topic | LabelledTopic) -> tuple[object, ...]:
    """What makes one like it in another process, where what is read-only cannot be sent."""
    values = (getattr(original, attribute.name) for attribute in dataclass_fields(original))
    return type(original), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)


@dataclass(frozen=True, slots=True)
class Document:
    """An article: what a collection holds and a reranker reads.

    Attributes:
        id: unique in its collection.
        title: its title; may be empty.
        abstract: its abstract or, where there is none, whatever text the collection has.
        fields: everything else, by name; read-only, for all systems are given the same documents.
    """

    id: str
    title: str = ""
    abstract: str = ""
    fields: Mapping[str, FieldValue] = field(default_factory=lambda: _NO_FIELDS)

    def __post_init__(self) -> None:
        if isinstance(self.fields, dict):  # no copy: there are millions of documents
            object.__setattr__(self, "fields", MappingProxyType(self.fields))

    def __reduce__(self) -> tuple[object, ...]:
        return _anew(self)

    @property
    def text(self) -> str:
        """Title and abstract."""
        return f"{self.title} {self.abstract}".strip()

    def values(self, name: str) -> tuple[str, ...]:
        """What a field holds, be it one text or several; nothing where it is missing."""
        return _values(self.fields.get(name))


@dataclass(frozen=True, slots=True)
class Topic:
    """An information need.

    Attributes:
        id: unique in its collection.
        query: the words that go to the first stage.
        fields: the parts that it was given in, by name (disease, gene, demographic…); read-only,
            for all systems are given the same topics.
    """

    id: str
    query: str
    fields: Mapping[str, FieldValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", MappingProxyType(dict(self.fields)))

    def __reduce__(self) -> tuple[object, ...]:
        return _anew(self)

    def values(self, name: str) -> tuple[str, ...]:
        """What a field holds, be it one text or several; nothing where it is missing."""
        return _values(self.fields.get(name))

    def describe(self) -> list[object]:
        """All that it says, as JSON: what is computed for a topic depends on it."""
        return [self.id, self.query, dict(self.fields)]


class Documents(Sequence[Document]):
    """A topic's candidates: their ids at once, their text fetched in one batch at first use.

    Args:
        ids: the candidates' ids, best of the first stage first.
        fetch: returns the documents of some ids, in their order.
    """

    def __init__(
        self, ids: Sequence[str], fetch: Callable[[Sequence[str]], Sequence[Document]]
    ) -> None:
        self._ids = tuple(ids)
        self._fetch = fetch
        self._documents: Sequence[Document] | None = None

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Documents:
        """Documents that are at hand already."""
        by_id = {document.id: document for document in documents}
        return cls([d.id for d in documents], lambda ids: [by_id[i] for i in ids])

    @property
    def ids(self) -> tuple[str, ...]:
        """The candidates' ids, best of the first stage first."""
        return self._ids

    def part(self, which: slice) -> Documents:
        """Some of the documents, read on their own."""
        return Documents(self.ids[which], self._fetch)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Document]: ...
    def __getitem__(self, index: int | slice) -> Document | Sequence[Document]:
        if self._documents is None:
            self._documents = self._fetch(self.ids)
        return self._documents[index]

    def __iter__(self) -> Iterator[Document]:
        return iter(self[:])


class Options(BaseModel):
    """Base of every typed declaration of options.

    Declare each as an annotated attribute with a default and `Field(description="…")`; it can then
    be set with `--set name=value` or from a TOML file, is validated, documented by
    `platform rerankers show`, and recorded beside every run.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        populate_by_name=True,
        allow_inf_nan=False,  # JSON holds neither
    )

    @field_validator("*", mode="before")
    @classmethod
    def _truth_is_no_number(cls, value: object, info: ValidationInfo) -> object:
        """Pydantic would take true for 1."""
        declared = cls.model_fields[str(info.field_name)]
        if isinstance(value, bool) and is_number(declared.annotation):
            raise ValueError(f"it takes: {type_in_words(declared.annotation, declared.metadata)}")
        return value


_Options = Options  # in the classes below, `Options` is their own attribute


class Resources(Protocol):
    """What the platform offers: built at first use, cached on disk, shared between plugins."""

    device: str
    """Where to compute: "cpu", "cuda" or "mps"."""
    seed: int
    threads: int
    model_threads: int
    """Of torch on the CPU: another number of them rounds otherwise, and so trains other weights."""

    @property
    def system_seed(self) -> int:
        """Of what all members of a system share; `seed` differs between them."""

    def index(self) -> LuceneIndex:
        """The collection's Lucene index."""

    def forward_index(self) -> ForwardIndex:
        """Token ids and lexical statistics of every document."""

    def vectors(self, options: VectorOptions | None = None) -> WordVectors:
        """Word vectors: a checkpoint's, else those the user imported, else trained on the text."""

    def concepts(self, options: ConceptOptions | None = None) -> ConceptGraph:
        """The document–concept graph, whose rows are those of the forward index."""

    def documents(self, doc_ids: Sequence[str]) -> Documents:
        """Documents by id, read when first looked at."""

    def artifact(
        self,
        kind: str,
        depends_on: Mapping[str, object],
        build: Callable[[Path], None],
        *,
        of_vectors: bool = True,
        resumable: bool = False,
        filled_later: bool = False,
    ) -> Path:
        """A cached folder of something made from the collection's documents and word vectors.

        Args:
            kind: what it is, in lower-case letters, digits and "-"; keep it unique to the plugin.
            depends_on: what else its content depends on, as JSON.
            of_vectors: whether word vectors have a part in it; without, other vectors change
                nothing.
            build: fills an empty folder; called only where the artifact is not there yet.
            resumable: whether `build` goes on from what is in the folder: it is then given what an
                interrupted call left there. Else it starts over.
            filled_later: whether its files change after `build`. Otherwise digests of them are
                kept, and an artifact whose files are not the same any more is made again.
        """

    def progress(
        self, label: str, total: int, unit: str = ""
    ) -> AbstractContextManager[Callable[[int], None]]:
        """A progress display; call what it yields with the number of steps just done.

        Args:
            label: what is being done, in lower case, such as "counting stems".
            total: how many steps there are.
            unit: what they are, such as "documents".
        """

    def notice(self, message: str) -> None:
        """Tell the user something, in a line on stderr; the same line is told once."""

    def reranker(self, name: str, settings: Mapping[str, object] | None = None) -> Reranker:
        """Another reranker, prepared; one that learns still has to `fit` or `load`."""

    def checkpoint(self, folder: Path) -> Sequence[Reranker]:
        """The members of a checkpoint that `platform train` wrote, ready to score."""

    def retriever(self, name: str, settings: Mapping[str, object] | None = None) -> Retriever:
        """A retriever."""

    def feature_group(
        self, name: str, settings: Mapping[str, object] | None = None
    ) -> FeatureGroup:
        """A group of features, prepared; one that learns still has to `fit` or `load`."""


@dataclass(frozen=True)
class LabelledTopic:
    """A topic to learn from.

    Attributes:
        topic: the topic.
        candidates: ids of the documents that the first stage found, best first.
        judgments: document id to grade, read-only; a candidate that is not in it was not judged.
            Judged documents need not be among the candidates. A grade is a whole number; a level,
            as of clicks, is a float and may have decimals.
        first_stage: the first stage's scores of the candidates, where they are known.
    """

    topic: Topic
    candidates: tuple[str, ...]
    judgments: Mapping[str, float]
    first_stage: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        # A fold learns from judgments that others are scored by
        object.__setattr__(self, "judgments", MappingProxyType(self.judgments))

    def __reduce__(self) -> tuple[object, ...]:
        return _anew(self)


@dataclass(frozen=True, slots=True)
class TextPair:
    """What a model may learn from beside judged topics.

    Attributes:
        query: a text that asks.
        text: a text that it should find.
        group: the source that brought them together, such as a citing article; "" for none.
    """

    query: str
    text: str
    group: str = ""


@dataclass(frozen=True)
class TrainingData:
    """What `fit` learns from.

    Attributes:
        training: topics to learn from.
        validation: topics to stop early and choose on; disjoint from `training`, and both are
            disjoint from the topics that will be evaluated.
        workspace: a folder that survives a kill; an interrupted `fit` is called again with what
            it left there.
        unseen: topics of the fold that is held out, in cross-validation, and where features are
            learned out of fold (by groups of features, and by rerankers whose scores are
            features). If you learn from other data, too, such as pairs of a file, leave out what
            belongs to these topics. Otherwise empty: a reranker is not told which topics of
            another collection it will score.
    """

    training: Sequence[LabelledTopic]
    validation: Sequence[LabelledTopic]
    workspace: Path
    unseen: Sequence[Topic] = ()

    def __post_init__(self) -> None:
        # Other members learn from the same topics
        for name in ("training", "validation", "unseen"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


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

    Options: ClassVar[type[Options]] = Options
    citation: ClassVar[str] = ""
    wants_expansion: ClassVar[bool] = False
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    def __init__(self, options: _Options | None = None) -> None:
        self.options: _Options = options if options is not None else type(self).Options()

    @property
    def needs(self) -> Sequence[str]:
        """Modules that the platform's core does not bring and that it imports: `("torch",)`.

        Where one is missing, a command says so before it begins. A plain attribute will do.
        """
        return ()

    def expanding(self, knowledge: tuple[str, ...]) -> _Options:
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

    def options_of_pretraining(self) -> _Options:
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

    Options: ClassVar[type[Options]] = Options
    citation: ClassVar[str] = ""
    reads_knowledge: ClassVar[bool] = False
    holds_first_stage: ClassVar[bool] = False

    def __init__(self, options: _Options | None = None) -> None:
        self.options: _Options = options if options is not None else type(self).Options()

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


class Retriever:
    """Finds candidates for topics. Subclass it and override `retrieve`.

    Attributes:
        Options: the class of its options.
        citation: where the method comes from.
        on_device: whether it computes on the device of the resources, such as a GPU; its rankings
            are then kept for each, and for each number of `model_threads`.
        seeded: whether its rankings may depend on the seed of the resources; they are then kept for
            each. One that draws nothing says False, so that runs with other seeds share them.
        limits_dates: whether it leaves out what a topic's field `published_before` excludes.
            Otherwise the platform does, and searches deeper where that takes documents away.
    """

    Options: ClassVar[type[Options]] = Options
    citation: ClassVar[str] = ""
    on_device: ClassVar[bool] = False
    seeded: ClassVar[bool] = True
    limits_dates: ClassVar[bool] = False

    def __init__(self, options: _Options | None = None) -> None:
        self.options: _Options = options if options is not None else type(self).Options()

    @property
    def needs(self) -> Sequence[str]:
        """Modules that the platform's core does not bring and that it imports: `("torch",)`.

        Where one is missing, a command says so before it begins. A plain attribute will do.
        """
        return ()

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        """Rank at most `depth` documents for every topic.

        Returns:
            A run with an entry for every topic, empty where nothing was found.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define retrieve()")

    def depends_on(self) -> Mapping[str, object]:
        """The cache key of its runs, beside what the platform knows, as JSON.

        Name whatever can change a ranking and is not among the options, the index, the topics and
        the source of the plugin, such as the digest of another file. If something is missing here,
        runs of before are used again.
        """
        return {}

    def checkpoints(self) -> Sequence[Path]:
        """Folders of the checkpoints that it searches with, which its options name.

        Whoever reads its scores as features has learned from what these learned from: a run that
        evaluates on such topics says so. What a search itself should say of them, `about` says.
        Called on an instance that is not prepared.
        """
        return ()

    def remark(self) -> str:
        """A line under the table, where the method is not quite what its name says; or ""."""
        return ""

    def check_topics(self, topics: Sequence[Topic]) -> None:
        """Raise an InputError where options do not fit the topics of a collection.

        It is asked before any work; topics that are only learned from need not fit.
        """
        del topics

    def about(self, topics: Sequence[Topic], resources: Resources) -> Mapping[str, object]:
        """What the metadata of a run should say of how its topics are searched, as JSON.

        It is asked for runs of the cache too: what their reader must know is told here, with
        `resources.notice`. A text under "warning" is also among the warnings of the report.
        """
        del topics, resources
        return {}

    def explain(self, topic: Topic, resources: Resources) -> Mapping[str, object]:
        """The query that it makes of a topic, as JSON; see `irplatform.retrieval.querying`."""
        del resources
        return {"kind": "words", "field": "contents", "text": topic.query}


class RegisterReranker(Protocol):
    """Makes a reranker known by a name; keyword arguments replace defaults of its options."""

    def __call__(self, name: str, reranker: type[Reranker], /, **defaults: object) -> None: ...


class RegisterFeatures(Protocol):
    """Makes a group of features known by a name; keyword arguments replace option defaults."""

    def __call__(self, name: str, group: type[FeatureGroup], /, **defaults: object) -> None: ...


class RegisterRetriever(Protocol):
    """Makes a retriever known by a name; keyword arguments replace defaults of its options."""

    def __call__(self, name: str, retriever: type[Retriever], /, **defaults: object) -> None: ...


class RegisterCollection(Protocol):
    """Makes a collection known by a name; `load` is called when the name is used."""

    def __call__(self, name: str, load: Callable[[], Collection], /, *, title: str) -> None: ...


class RegisterMeasure(Protocol):
    """Makes a measure known by a name.

    `compute(qrels, run)` returns the value per topic, for every topic of the qrels.
    """

    def __call__(
        self,
        name: str,
        compute: Callable[[Mapping[str, Mapping[str, float]], Run], Mapping[str, float]],
        /,
    ) -> None: ...


class RegisterKnowledge(Protocol):
    """Makes a format of knowledge bases known by a name; `load` is called when files are added."""

    def __call__(self, name: str, load: Callable[[], Format], /) -> None: ...


class RegisterResults(Protocol):
    """Makes the results in a TOML file known to `platform reproduce`."""

    def __call__(self, file: Path, /) -> None: ...


@dataclass(frozen=True)
class RunEvent:
    """What the life-cycle hooks are told.

    Attributes:
        collection: the collection's id.
        systems: names of the retrievers, then of the rerankers, that were asked for.
        run_dir: where runs are written.
        results: per row of the report, measure name to value; empty at the start. Rows are
            retrievers, what they make together (`fused`), and rerankers, the mean of their seeds.
        runs: names of the runs that were made, those of single seeds and without the first stage
            (`delta-seed42-alone`) too; each is the file `run_dir / f"{name}.run"`. Empty at the
            start.
    """

    collection: str
    systems: tuple[str, ...]
    run_dir: Path
    results: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    runs: tuple[str, ...] = ()


class Hooks:
    """The hook specifications. Implement any of them in a module, marked with `@hookimpl`."""

    @hookspec
    def register_rerankers(self, register: RegisterReranker) -> None:
        """Register rerankers: `register(name, RerankerClass, **option_defaults)`."""

    @hookspec
    def register_features(self, register: RegisterFeatures) -> None:
        """Register groups of features: `register(name, GroupClass, **option_defaults)`."""

    @hookspec
    def register_retrievers(self, register: RegisterRetriever) -> None:
        """Register first-stage retrievers: `register(name, RetrieverClass, **option_defaults)`."""

    @hookspec
    def register_collections(self, register: RegisterCollection) -> None:
        """Register collections: `register(name, load, title=…)`."""

    @hookspec
    def register_measures(self, register: RegisterMeasure) -> None:
        """Register measures: `register(name, compute)`."""

    @hookspec
    def register_knowledge(self, register: RegisterKnowledge) -> None:
        """Register formats of knowledge bases: `register(name, load)`; `load()` returns one."""

    @hookspec
    def register_results(self, register: RegisterResults) -> None:
        """Register results to reproduce: `register(path_of_a_toml_file)`."""

    @hookspec
    def register_commands(self, cli: click.Group) -> None:
        """Add commands to the `platform` command line."""

    @hookspec
    def run_started(self, event: RunEvent) -> None:
        """Called when a run begins, after its input has been checked."""

    @hookspec
    def run_finished(self, event: RunEvent) -> None:
        """Called when all runs of a command have been written and scored."""
