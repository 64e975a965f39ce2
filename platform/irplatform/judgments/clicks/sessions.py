"""The sessions of a simulated topic: what is shown, and what is clicked on.

A session is shown the retriever's ranking, perturbed so that documents from further down are seen
as well, and clicks as a click model says. Everything random comes from the seed and the topic's id,
so that a topic's sessions are the same whatever else is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError, check_least
from irplatform.judgments.clicks.models import Behaviour
from irplatform.storage import number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from irplatform.plugin import Topic

_LINES = 200_000
"""Lines that are drawn at a time."""


@dataclass(frozen=True)
class SessionSettings:
    """How collections are searched in the simulation.

    Attributes:
        sessions: per topic.
        page: documents that a session sees.
        depth: documents of the retriever's ranking that can be seen.
        shuffle: how much the ranking differs between sessions; 0 is not at all. A session's
            ranking is a Plackett–Luce draw with weights rank^(−1/shuffle): the document at rank r
            comes before the one at rank s with probability 1 / (1 + (r/s)^(1/shuffle)).
        fulltext_share: share of the documents that have a full text.
        seed: of everything random.
        behaviour: what the users do.
    """

    sessions: int = 50
    page: int = 20
    depth: int = 100
    shuffle: float = 0.5
    fulltext_share: float = 0.5
    seed: int = 42
    behaviour: Behaviour = field(default_factory=Behaviour)

    def __post_init__(self) -> None:
        for name in ("sessions", "page", "depth"):
            check_least(name, getattr(self, name), 1)
        if not 0 <= self.shuffle < np.inf:
            raise InputError(f"--shuffle is {self.shuffle}; it must be 0 or more.")
        if not 0 <= self.fulltext_share <= 1:
            raise InputError("the share of documents with full text lies between 0 and 1.")


def sessions(
    topic: Topic,
    ranking: Sequence[str],
    grades: Mapping[str, float],
    highest: float,
    settings: SessionSettings,
) -> Iterator[pl.DataFrame]:
    """Draw the sessions of a topic.

    Args:
        topic: the query.
        ranking: document ids, best first.
        grades: document id to grade; others have 0.
        highest: the highest grade of the collection.
        settings: of sessions and users.

    Yields:
        Frames with the columns of a log, whole sessions in each.
    """
    import polars as pl

    if not ranking:
        return
    behaviour = settings.behaviour
    random = np.random.default_rng([settings.seed, number_of(topic.id)])
    judged = np.array([grades.get(doc_id, 0) for doc_id in ranking], dtype=np.float64)
    attraction = behaviour.attraction(judged, highest)
    available = has_fulltext(ranking, settings)
    doc_ids = np.array(ranking, dtype=object)
    query = " ".join(topic.query.split())
    page = min(settings.page, len(ranking))
    step = max(1, _LINES // len(ranking))
    for start in range(0, settings.sessions, step):
        count = min(step, settings.sessions - start)
        shown = _pages(len(ranking), page, count, settings.shuffle, random)
        clicked = behaviour.click(attraction[shown], random)
        goes_on = random.random(clicked.shape) < behaviour.fulltext * attraction[shown]
        opened = clicked & goes_on & available[shown]
        yield pl.DataFrame(
            {
                "query": pl.repeat(query, shown.size, eager=True),
                "doc_id": pl.Series(doc_ids[shown.ravel()], dtype=pl.String),
                "rank": np.tile(np.arange(1, page + 1), count),
                "abstract_clicks": clicked.ravel().astype(np.int64),
                "fulltext_clicks": opened.ravel().astype(np.int64),
                "has_fulltext": available[shown].ravel().astype(np.int64),
            }
        )


def has_fulltext(doc_ids: Iterable[str], settings: SessionSettings) -> npt.NDArray[np.bool_]:
    """Which documents have a full text: the same ones for every topic."""
    share = settings.fulltext_share * 2**32
    return np.array(
        [number_of(f"{settings.seed} {d}") % 2**32 < share for d in doc_ids], dtype=bool
    )


def _pages(
    documents: int, page: int, count: int, shuffle: float, random: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Places in the ranking that sessions are shown, [count, page]."""
    ranks = np.log(np.arange(1, documents + 1))
    keys = ranks - shuffle * random.gumbel(size=(count, documents))
    return np.argsort(keys, axis=1, kind="stable")[:, :page]
