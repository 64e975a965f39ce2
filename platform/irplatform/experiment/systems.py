"""From the names in settings to systems with their options, over the collection that they are for.

Every command that searches or reranks chooses its systems here, so that the same settings mean the
same systems for all. Names, options and what cannot have an effect are checked before anything of
the collection is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from irplatform.experiment.choosing import choose_systems
from irplatform.experiment.corpus import refuse_silent_downloads
from irplatform.experiment.expansion import (
    expanded_for,
    expansion_settings,
    refuse_idle_plan,
    with_expansion,
    with_expansion_of,
)
from irplatform.experiment.learning import check_repetitions
from irplatform.experiment.pretraining import check_pretraining
from irplatform.reranking.rerank import apply_checkpoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.data import Collection
    from irplatform.experiment.settings import RunSettings
    from irplatform.registry.lookup import Registry
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.retrieval.first_stage import ChosenRetriever


@dataclass(frozen=True)
class Systems:
    """The systems of a command.

    Attributes:
        collection: what they search.
        told: the settings of systems that the user gave.
        given: those that they were chosen by: these, and beneath them how the collection wants its
            queries expanded.
        retrievers: the first stage.
        rerankers: what reranks.
    """

    collection: Collection
    told: Mapping[str, object]
    given: Mapping[str, object]
    retrievers: Sequence[ChosenRetriever]
    rerankers: Sequence[ChosenReranker]

    def expanded(self) -> Systems:
        """The same, whose retrievers expand queries where the rerankers are made for that.

        The rerankers are told with what.

        Reads the collection's topics.

        Raises:
            InputError: a query plan was set, and no queries are expanded.
        """
        retrievers = expanded_for(self.rerankers, self.retrievers, self.collection, self.given)
        refuse_idle_plan(retrievers, self.rerankers, self.given)
        rerankers = with_expansion(self.rerankers, retrievers)
        return replace(self, retrievers=retrievers, rerankers=rerankers)

    def checked(self) -> Systems:
        """The same, whose retrievers' options fit the collection's topics.

        Raises:
            InputError: they do not, or what they name is not there.
        """
        topics = list(self.collection.load_topics())
        for choice in self.retrievers:
            choice.check_topics(topics)
            choice.describe()  # what it depends on and cannot have is refused before any work
        return self


def resolve_systems(
    settings: RunSettings, plugins: Registry, *, documents_only: bool = False
) -> Systems:
    """Choose systems by their names.

    Args:
        settings: their names and options, and the collection's.
        plugins: where names are looked up.
        documents_only: whether topics and judgments play no part.

    Raises:
        InputError: a wrong name or option.
    """
    find = plugins.documents_of if documents_only else plugins.collection
    collection = find(settings.collection)
    names = settings.retrievers
    expansion = expansion_settings(plugins, names, settings.expand, settings.query_plan)
    told = {**expansion, **settings.settings}
    given = with_expansion_of(collection, plugins, names, told)
    retrievers, rerankers = choose_systems(
        plugins, names, settings.rerankers, given, settings.preset, settings.members
    )
    return Systems(collection, told, given, retrievers, rerankers)


def resolve_learning_systems(settings: RunSettings, plugins: Registry) -> Systems:
    """Choose systems of which some may be trained, and see that they can be.

    Raises:
        InputError: a wrong name, option or file, something that would have no effect, or a large
            download that nobody asked for.
    """
    systems = resolve_systems(settings, plugins)
    check_repetitions(settings.seeds, settings.members, systems.rerankers)
    rerankers = apply_checkpoint(settings.checkpoint, systems.rerankers)
    check_pretraining(
        settings.pretrain,
        systems.collection,
        settings.checkpoint,
        rerankers,
        plugins,
        queries=settings.pretrain_queries,
    )
    for choice in rerankers:
        choice.check()
    refuse_silent_downloads(systems.collection, settings.collection)
    return replace(systems, rerankers=rerankers).expanded().checked()
