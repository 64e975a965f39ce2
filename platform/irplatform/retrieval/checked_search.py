"""Searches with a retriever, and holds what it returns to its contract.

Date limits that a retriever does not know are applied to what it finds.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from irplatform.errors import PluginError, unstopped
from irplatform.retrieval.dates import Years, date_limits, search_before
from irplatform.runs import Ranking, Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.plugin import Topic
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.first_stage import RetrieverChoice


def find(
    choice: RetrieverChoice, topics: Sequence[Topic], depth: int, resources: CollectionResources
) -> Run:
    """Search with a retriever, and see that it keeps its contract; nothing is cached.

    Raises:
        PluginError: it returned something else than a run with an entry for every topic.
    """
    retriever = choice.registration.made(choice.options)
    who = choice.registration.who

    def search(topics: Sequence[Topic], depth: int) -> Mapping[str, Ranking]:
        with choice.registration.plugin_call("searching"):
            theirs = [*map(copy, topics)]  # to do with as they like
            run = retriever.retrieve(theirs, depth, resources)
        if not isinstance(run, Run):
            raise PluginError(f"{who} returned {type(run).__name__}, not a Run.")
        if missing := [t.id for t in topics if t.id not in run.rankings]:
            raise PluginError(
                f"{who} returned no ranking for topic {missing[0]}; an empty one is fine."
            )
        return {t.id: _checked(who, t.id, run.rankings[t.id]).top(depth) for t in topics}

    limits = {} if retriever.limits_dates else date_limits(topics)
    if not limits:
        return Run(choice.name, search(topics, depth))
    years = Years(resources.documents)
    return Run(choice.name, search_before(search, topics, depth, limits, years))


def _checked(who: str, topic: str, ranking: object) -> Ranking:
    if not isinstance(ranking, Ranking):
        raise PluginError(
            f"{who} returned {type(ranking).__name__} for topic {topic}, not a Ranking; "
            "Ranking.of(doc_ids, scores) makes one."
        )
    if strange := [doc_id for doc_id in ranking.doc_ids if not isinstance(doc_id, str)]:
        raise PluginError(
            f"{who} found document {strange[0]!r} for topic {topic}: ids are text (str), not "
            f"{type(strange[0]).__name__}."
        )
    try:
        return Ranking.of(ranking.doc_ids, ranking.scores)
    except (ValueError, TypeError) as error:
        raise PluginError(
            f"{who} returned no ranking for topic {topic}: {unstopped(error)}."
        ) from error
