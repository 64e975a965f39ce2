"""Rerankers and retrievers that are ready to use from Python, on topics and candidates of a caller.

A run ranks the topics of a collection. These rank what another program gives them, with the same
systems, trained and cached in the same way, and give the same scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from irplatform.data import Collection, Corpus, Documents
from irplatform.errors import InputError
from irplatform.experiment.plan import resolve
from irplatform.experiment.run import choose_fusion, learning_plan, retrieve_training
from irplatform.experiment.settings import (
    as_names,
    on_device,
    one_reranker,
    resources_for,
    settings_of,
    undecided_resources,
)
from irplatform.experiment.systems import choose_systems, refuse_silent_downloads, resolve_systems
from irplatform.registry.loading import registry
from irplatform.reranking.interpolation import Reranked
from irplatform.reranking.rerank import apply_checkpoint, fit, resources_with
from irplatform.reranking.scoring import cached_scores, final_scores
from irplatform.reranking.training_set import LearningPlan
from irplatform.reranking.warnings import warnings_of
from irplatform.retrieval.first_stage import find
from irplatform.runs import Run
from irplatform.system.arithmetic import choose_device, settings_kept
from irplatform.system.console import waiting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Document, Topic
    from irplatform.experiment.settings import AnyPath
    from irplatform.reranking.scoring import Values
    from irplatform.reranking.systems import System
    from irplatform.retrieval.first_stage import ChosenRetriever


@dataclass(frozen=True)
class ReadyReranker:
    """A reranker that can score.

    Attributes:
        collection: its documents are those that are scored; None for any texts.
        system: the trained members, and the first stage's share that was chosen for them.
        resources: of the collection.
        learning: what it learned from.
    """

    collection: Collection | None
    system: System
    resources: CollectionResources
    learning: LearningPlan

    @property
    def name(self) -> str:
        """Its name."""
        return self.system.choice.name

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that stand for the reranker, its options and weights."""
        return self.system.fingerprint

    @settings_kept()
    def scores(
        self,
        topics: Sequence[Topic],
        candidates: Mapping[str, Sequence[str]],
        *,
        texts: Mapping[str, Document] | None = None,
        cached: bool = True,
    ) -> dict[str, Values]:
        """Score the candidates of topics.

        Args:
            topics: the topics; they need not be the collection's.
            candidates: topic id to the ids of documents of the collection, best first.
            texts: without a collection, the documents by id.
            cached: whether to take scores of a collection's documents from the cache, and to keep
                them there.

        Returns:
            Topic id to float64 scores, in the order of the candidates.

        Raises:
            InputError: a document is not in the collection, or the reranker reads the collection
                and there is none.
        """
        given = None if self.collection else _Given(texts or {})
        contains = given.texts.__contains__ if given else self.resources.index().contains
        for doc_ids in candidates.values():
            if unknown := next((doc_id for doc_id in doc_ids if not contains(doc_id)), None):
                where = f"'{self.collection.id}' has" if self.collection else "the texts have"
                raise InputError(f"{where} no document '{unknown}'.")
        for warning in warnings_of(self.system.choice, topics, self.learning):
            self.resources.notice(warning)
        # Torch's threads are the caller's between two calls, and sums depend on them.
        choose_device(self.resources.device, self.resources.model_threads)
        if cached and not given:
            return cached_scores(self.system, topics, candidates, self.resources)
        made = self.system.choice.registration, self.system.members
        documents = cast("CollectionResources", given) if given else self.resources
        return final_scores(*made, topics, candidates, documents)

    def rerank(
        self,
        topics: Sequence[Topic],
        first: Run,
        weight: float | None = None,
        *,
        texts: Mapping[str, Document] | None = None,
        cached: bool = True,
    ) -> Run:
        """Rank all documents of a first stage by a mixture of its scores and the reranker's.

        Args:
            topics: the topics.
            first: their candidates, with the first stage's scores.
            weight: the first stage's share, 0 to 1; None takes the one that was chosen in training.
            texts: as in `scores`.
            cached: as in `scores`.

        Returns:
            What `platform run` writes for the reranker: standardized scores that are mixed.
        """
        weight = self.system.weight if weight is None else weight
        candidates = {topic.id: first.rankings[topic.id].doc_ids for topic in topics}
        scores = self.scores(topics, candidates, texts=texts, cached=cached)
        return Run(
            self.name,
            {
                topic: Reranked.of(first.rankings[topic], doc_ids, scores[topic].tolist()).mixed(
                    weight
                )
                for topic, doc_ids in candidates.items()
            },
        )


@settings_kept()
def open_reranker(
    name: str, collection: AnyPath | None, *, weighs: bool = False, **options: Any
) -> ReadyReranker:
    """Make a reranker ready to score documents of a collection.

    One that learns is trained on the collection's training topics, as in a run, unless
    `checkpoint=` names a trained one.

    Args:
        name: of the reranker.
        collection: a name, an ir_datasets id or a path; None scores any texts, with a reranker that
            reads nothing else.
        weighs: whether the first stage's share is chosen where the reranker does not learn.
        options: attributes of `RunSettings`, such as `settings`, `checkpoint` or `train_on`.

    Raises:
        InputError: a wrong name or option, or a reranker that learns and has nothing to learn from.
    """
    if not weighs:
        options = {"interpolate": 0.0, **options}
    if collection is None:
        return _open_for_texts(name, options)
    settings = settings_of(collection, {**options, "rerankers": as_names(name, "reranker")})
    one_reranker(settings, "open_reranker")
    with waiting(f"reading {settings.collection}"):
        plan = resolve(settings, registry())
    (choice,) = plan.rerankers
    if plan.folds:
        what = "learns" if choice.trainable else "needs the first stage's share"
        raise InputError(
            f"'{choice.name}' {what}, and '{plan.collection.id}' has no training topics apart: "
            "name a trained one (checkpoint=FOLDER, as `platform train --out FOLDER` writes it), "
            "or a collection to train on (train_on=NAME)."
        )
    plan = plan.on_device()
    training = retrieve_training(plan)
    learning = learning_plan(plan, training, choose_fusion(plan, training))
    resources = resources_with(learning, choice, plan.resources)
    system = fit(choice, learning, learning.training_set, resources)
    return ReadyReranker(plan.collection, system, resources, learning)


class _NoDocuments(Corpus):
    """In place of a collection's documents, for rerankers that read texts alone."""

    name = "texts"
    fields = ()
    fingerprint = "none"

    def __iter__(self) -> Iterator[Document]:
        raise InputError(
            "this reranker reads the documents of a collection, such as its words' frequencies: "
            "name one, as in collection='demo'."
        )


@dataclass(frozen=True)
class _Given:
    """Documents by id, as scoring asks resources for them."""

    texts: Mapping[str, Document]

    def documents(self, doc_ids: Sequence[str]) -> Documents:
        return Documents.of([self.texts[doc_id] for doc_id in doc_ids])


def _open_for_texts(name: str, options: Mapping[str, Any]) -> ReadyReranker:
    """A reranker that scores any texts."""
    settings = settings_of("texts", {**options, "rerankers": as_names(name, "reranker")})
    one_reranker(settings, "open_reranker")
    chosen = settings.settings, settings.preset, settings.members
    _, rerankers = choose_systems(registry(), settings.retrievers, settings.rerankers, *chosen)
    if rerankers[0].trainable and settings.checkpoint is None:
        raise InputError(
            f"'{name}' learns: name a trained one (checkpoint=FOLDER, as `platform train --out "
            "FOLDER` writes it), or a collection."
        )
    if settings.checkpoint is not None:
        rerankers = apply_checkpoint(settings.checkpoint, rerankers)
    (choice,) = rerankers
    choice.check()
    nothing = Collection("texts", "texts of a caller", _NoDocuments(), lambda: ())
    resources = on_device(undecided_resources(settings, nothing), settings, ())
    learning = LearningPlan(checkpoint=settings.checkpoint, interpolate=settings.interpolate)
    resources = resources_with(learning, choice, resources)
    return ReadyReranker(None, fit(choice, learning, None, resources), resources, learning)


@dataclass(frozen=True)
class ReadyRetriever:
    """A retriever that can search.

    Attributes:
        collection: what it searches.
        choice: the retriever and its options.
        resources: of the collection.
    """

    collection: Collection
    choice: ChosenRetriever
    resources: CollectionResources

    @settings_kept()
    def search(self, topics: Sequence[Topic], depth: int = 1000) -> Run:
        """Rank at most `depth` documents for every topic; topics need not be the collection's.

        Raises:
            InputError: its options do not fit the topics.
        """
        self.choice.check_topics(topics)
        self.choice.about(topics, self.resources)  # shows notices
        if self.choice.traits.on_device:
            choose_device(self.resources.device, self.resources.model_threads)
        return find(self.choice, topics, depth, self.resources)


@settings_kept()
def open_retriever(name: str, collection: AnyPath, **options: Any) -> ReadyRetriever:
    """Make a retriever ready to search a collection.

    Args:
        name: of the retriever.
        collection: a name, an ir_datasets id or a path.
        options: attributes of `RunSettings`, such as `settings` or `expand`.

    Raises:
        InputError: a wrong name or option.
    """
    settings = settings_of(collection, {**options, "retrievers": (name,)})
    with waiting(f"reading {settings.collection}"):
        systems = resolve_systems(settings, registry(), documents_only=True)
    (choice,) = systems.retrievers
    refuse_silent_downloads(systems.collection, settings.collection)
    choice.describe()  # refuses what it depends on and cannot have
    resources = resources_for(settings, systems.collection, systems.retrievers)
    return ReadyRetriever(systems.collection, choice, resources)
