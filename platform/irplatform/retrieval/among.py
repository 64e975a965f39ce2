"""Ranking a given set of documents per topic, with a retriever that can only search all of them.

The retriever searches deeply, and what was not asked for is left out. A document that it does not
find at all (none of the query's words occur in it) comes last, by decreasing id, so that every
system ranks the same sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.runs import Ranking, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.plugin import Topic
    from irplatform.resources import CollectionResources

DEEPEST = 100_000
"""Documents that are searched per topic at most: all of a closed pool, and in all of MEDLINE those
that a first stage could ever tell apart."""
HITS_AT_ONCE = 2_000_000
"""Results that are held at a time."""


def rank_among(
    find: Callable[[Sequence[Topic], int, CollectionResources], Run],
    topics: Sequence[Topic],
    among: Mapping[str, Sequence[str]],
    resources: CollectionResources,
) -> Run:
    """Rank exactly the given documents of every topic.

    Args:
        find: the search: the documents of every topic, best first.
        topics: the topics.
        among: topic id to the documents to rank; all of them are in the index.
        resources: the harness's resources.
    """
    depth = max(1, min(resources.index().count, DEEPEST))
    step = max(1, HITS_AT_ONCE // depth)
    name, rankings = "", {}
    for start in range(0, len(topics), step):
        run = find(topics[start : start + step], depth, resources)
        name = run.name
        for topic_id, ranking in run.rankings.items():
            rankings[topic_id] = restrict(ranking, among[topic_id])
    return Run(name, rankings)


def restrict(ranking: Ranking, doc_ids: Sequence[str]) -> Ranking:
    """The documents of a topic in the order of a ranking, those not in it last.

    The latter share a score just below that of the last document found: by a hundredth of the
    distance between the first and the last, so that standardized scores are not stretched.
    """
    scores = dict(ranking)
    last = 0.0
    if len(ranking):
        spread = float(ranking.scores[0]) - float(ranking.scores[-1])
        last = float(ranking.scores[-1]) - (spread or 1.0) / 100
    return Ranking.of(doc_ids, np.array([scores.get(d, last) for d in doc_ids], dtype=np.float32))
