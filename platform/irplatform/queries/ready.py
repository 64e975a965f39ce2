"""Rerankers and retrievers that are ready to use from Python, on topics and candidates of a caller.

A run ranks the topics of a collection. These rank what another program gives them, with the same
systems, trained and cached in the same way, and give the same scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Unpack

from irplatform.data import Collection, Topic
from irplatform.errors import InputError
from irplatform.experiment.arguments import as_retriever
from irplatform.experiment.experiment_file import settings_of
from irplatform.experiment.keywords import RerankerOptions, RetrieverOptions
from irplatform.experiment.plan import plan_run
from irplatform.experiment.resources import resources_for, undecided_resources, with_device
from irplatform.experiment.run import choose_fusion, learning_plan, retrieve_training
from irplatform.experiment.run_settings import label_and_name, one_reranker
from irplatform.experiment.settings import DeclaredSettings
from irplatform.experiment.systems import choose_systems, refuse_large_downloads, resolve_systems
from irplatform.queries.free_texts import (
    NoDocuments,
    TextResources,
    as_topic,
    texts_by_id,
)
from irplatform.registry.loading import registry
from irplatform.reranking.interpolation import Reranked
from irplatform.reranking.rerank import fit, resources_with
from irplatform.reranking.scoring import cached_scores, final_scores
from irplatform.reranking.systems import recorded_options, tell_of_other_options
from irplatform.reranking.training_set import LearningPlan
from irplatform.reranking.warnings import warnings_of
from irplatform.retrieval.retrievers import checked_run
from irplatform.runs import Run
from irplatform.settings import with_keywords
from irplatform.spelling import command, option
from irplatform.system.arithmetic import choose_device, settings_kept
from irplatform.system.console import waiting
from irplatform.text.given_texts import GivenTexts, substitute
from irplatform.training.checkpoints import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Document
    from irplatform.experiment.arguments import AnyCollection, AnySystem
    from irplatform.experiment.keywords import Share
    from irplatform.experiment.run_settings import RunSettings
    from irplatform.plugin.rerankers import Reranker
    from irplatform.plugin.retrievers import Retriever
    from irplatform.reranking.scoring import Values
    from irplatform.reranking.systems import FittedReranker
    from irplatform.retrieval.retrievers import ChosenRetriever


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
    system: FittedReranker
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

    def score(self, query: str | Topic, documents: Sequence[str | Document]) -> list[float]:
        """Score texts for a query; nothing is kept in the cache.

        Args:
            query: some words, or a `Topic` with the fields that the reranker reads.
            documents: texts, or `Document` objects with a title and an abstract.

        Returns:
            A number for each, in their order; higher is better.

        Raises:
            InputError: the reranker reads what a text does not have, such as Lucene's scores, or
                needs a collection or word vectors, and has none.
        """
        topic, texts = as_topic(query), texts_by_id(documents)
        scores = self.scores([topic], {topic.id: [*texts]}, texts=texts)
        return [float(score) for score in scores[topic.id]]

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
            candidates: topic id to the ids of documents, best first.
            texts: documents by id, in place of the collection's.
            cached: whether to take scores of a collection's documents from the cache, and to keep
                them there.

        Returns:
            Topic id to float64 scores, in the order of the candidates.

        Raises:
            InputError: a document is not in the collection, or the reranker reads the collection
                and there is none.
        """
        texts = texts or {} if texts is not None or self.collection is None else None
        contains = self.resources.index().contains if texts is None else texts.__contains__
        for doc_ids in candidates.values():
            if unknown := next((doc_id for doc_id in doc_ids if not contains(doc_id)), None):
                collection = self.collection if texts is None else None
                subject = f"'{collection.id}' has" if collection else "the texts have"
                raise InputError(f"{subject} no document '{unknown}'.")
        for warning in warnings_of(self.system.choice, topics, self.learning):
            self.resources.notice(warning)
        # Torch's threads are the caller's between two calls, and sums depend on them.
        choose_device(self.resources.device, self.resources.model_threads)
        if cached and texts is None:
            return cached_scores(self.system, topics, candidates, self.resources)
        arguments = self.system.choice.registration, self.system.members, topics, candidates
        if texts is None:
            return final_scores(*arguments, self.resources)
        with substitute(GivenTexts(texts)):
            return final_scores(*arguments, self.resources)

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


@with_keywords(RerankerOptions, DeclaredSettings)
@settings_kept()
def reranker(
    name: AnySystem[Reranker],
    collection: RunSettings | AnyCollection | None = None,
    *,
    interpolate: Share = 0.0,
    **options: Unpack[RerankerOptions],
) -> ReadyReranker:
    """Make a reranker ready to score texts, or documents of a collection.

    One that learns is trained on the collection's training topics, as in a run, unless
    `checkpoint=` names a trained one.

    Args:
        name: a name, a class or an object of a reranker.
        collection: a name, a path, an ir_datasets id, a `Collection`, or `RunSettings` with one;
            without one, the reranker scores texts alone, and takes statistics of words from its
            checkpoint.
        interpolate: the first stage's share in `rerank`; "auto" chooses it, where the reranker does
            not learn, too.
        options: settings and training, as for `run`.

    Raises:
        InputError: a wrong name or option, or a reranker that learns and has nothing to learn from.

    Examples:
        >>> import irplatform as ir
        >>> class Longest(ir.Reranker):
        ...     '''Ranks longer documents first.'''
        ...     def score(self, topic, documents):
        ...         return [len(document.text) for document in documents]
        >>> ir.reranker(Longest).score("melanoma", ["BRAF in melanoma", "BRAF"])
        [16.0, 4.0]
    """
    if collection is None:
        return _without_collection(settings_of("", options, rerankers=name))
    with_share = {**options, "interpolate": interpolate}
    settings = settings_of(collection, with_share, rerankers=name)
    one_reranker(settings, "reranker")
    plan = plan_run(settings, registry())
    (choice,) = plan.rerankers
    if plan.folds:
        cause = "learns" if choice.trainable else "needs the first stage's share"
        raise InputError(
            f"'{choice.name}' {cause}, and '{plan.collection.id}' has no separate training topics: "
            f"name a trained one ({option('checkpoint', 'FOLDER')}, as "
            f"{command('train', out='FOLDER')} writes it), or a collection to train on "
            f"({option('train_on', 'NAME')})."
        )
    plan = plan.on_device()
    training = retrieve_training(plan)
    learning = learning_plan(plan, training, choose_fusion(plan, training))
    resources = resources_with(learning, choice, plan.resources)
    system = fit(choice, learning, learning.training_set, resources).prepared()
    return ReadyReranker(plan.collection, system, resources, learning)


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
    def search(self, topics: str | Topic | Sequence[Topic], depth: int = 1000) -> Run:
        """Rank at most `depth` documents for every topic, or for a query.

        Topics need not be the collection's.

        Raises:
            InputError: its options do not fit the topics.
        """
        if isinstance(topics, str):
            topic = as_topic(topics)
            return Run(self.choice.name, {"query": self.search([topic], depth).rankings[topic.id]})
        topics = [topics] if isinstance(topics, Topic) else topics
        self.choice.check_topics(topics)
        self.choice.describe_run(topics, self.resources)  # shows notices
        if self.choice.traits.on_device:
            choose_device(self.resources.device, self.resources.model_threads)
        return checked_run(self.choice, topics, depth, self.resources, retriever=self._retriever)

    @cached_property
    def _retriever(self) -> Retriever:
        """One for all searches: it may load a model for the first."""
        return self.choice.make()


@with_keywords(RetrieverOptions, DeclaredSettings)
@settings_kept()
def retriever(
    name: AnySystem[Retriever],
    collection: RunSettings | AnyCollection,
    **options: Unpack[RetrieverOptions],
) -> ReadyRetriever:
    """Make a retriever ready to search a collection.

    Args:
        name: a name, a class or an object of a retriever.
        collection: a name, a path, an ir_datasets id, a `Collection`, or `RunSettings` with one.
        options: settings, as for `run`.

    Raises:
        InputError: a wrong name or option.

    Examples:
        >>> import irplatform as ir
        >>> ir.retriever("bm25", "demo").search("melanoma BRAF", depth=5)
        Run('bm25', 1 topics, 5 results)
    """
    settings = settings_of(collection, options)
    settings = replace(settings, first_stages=as_retriever(name))
    with waiting(f"reading {settings.collection}"):
        systems = resolve_systems(settings, registry(), documents_only=True)
    (choice,) = systems.retrievers
    refuse_large_downloads(systems.collection, settings.collection)
    choice.describe()  # refuses what it depends on and cannot have
    resources = resources_for(settings, systems.collection, systems.retrievers)
    return ReadyRetriever(systems.collection, choice, resources)


def _without_collection(settings: RunSettings) -> ReadyReranker:
    """A reranker for texts: one that does not learn, or a checkpoint's."""
    name = one_reranker(settings, "reranker")
    registration = registry().reranker(label_and_name(name)[1])
    recorded = recorded_options(settings.checkpoint, [registration])
    preset, members = settings.preset, settings.members
    _, (choice,) = choose_systems(
        registry(), (), (name,), settings.settings, preset, members, recorded
    )
    if choice.trainable and settings.checkpoint is None:
        raise InputError(
            f"'{choice.name}' learns: name a trained one ({option('checkpoint', 'FOLDER')}, as "
            f"{command('train', out='FOLDER')} writes it), or a collection whose training topics "
            f"it learns from ({option('collection', 'NAME')})."
        )
    tell_of_other_options(settings.checkpoint, recorded, [choice])
    choice.check()
    choice.check_training()
    words = settings.checkpoint and Checkpoint.read(settings.checkpoint).words
    collection = Collection("texts", "Texts of a program", NoDocuments(words), lambda: ())
    resources = TextResources(
        **vars(with_device(undecided_resources(settings, collection), settings, ())),
        reader=f"reranker '{choice.name}'",
        words=words,
    )
    learning = LearningPlan(checkpoint=settings.checkpoint)
    own_resources = resources_with(learning, choice, resources)
    return ReadyReranker(
        None, fit(choice, learning, None, own_resources).prepared(), own_resources, learning
    )
