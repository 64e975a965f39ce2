"""The measurement: milliseconds from ids of documents to scores.

As Mohan et al. (WWW 2018, section 5.3.2) measure: 500 documents for a query, transfers included,
the model loaded. One model is timed, not the members that a run averages. A topic warms up once and
is measured several times; what is reported is the median of all measurements. Features are computed
anew each time, as a run computes them once.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, PlatformError
from irplatform.features import forget_features
from irplatform.reranking.scoring import checked_scores
from irplatform.timing.weights import NONE, ready

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.pipeline import Candidates
    from irplatform.plugin import Topic
    from irplatform.reranking.systems import RerankerChoice
    from irplatform.resources import CollectionResources


@dataclass(frozen=True)
class Timing:
    """How long a reranker takes on a device.

    Attributes:
        name: the reranker.
        device: "cpu" or "cuda".
        weights: "checkpoint" (of the cache), "untrained", "briefly trained", or "none" where it
            has none; the time does not depend on it, but for learned trees.
        milliseconds: of each measurement.
        problem: why there are none.
    """

    name: str
    device: str
    weights: str = NONE
    milliseconds: Sequence[float] = ()
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        """An entry of `platform bench rerankers --json`."""
        measured = sorted(self.milliseconds)
        return {
            "reranker": self.name,
            "device": self.device,
            "weights": self.weights,
            "median_ms": round(median(measured), 3) if measured else None,
            "quickest_ms": round(measured[0], 3) if measured else None,
            "slowest_ms": round(measured[-1], 3) if measured else None,
            "measurements": len(measured),
            "problem": self.problem or None,
        }


def pools(candidates: Candidates, topics: int, documents: int) -> list[tuple[Topic, list[str]]]:
    """Topics with exactly so many documents each.

    Args:
        candidates: a collection's topics after the first stage.
        topics: how many; those with the most candidates are taken.
        documents: per topic: its candidates, filled up with those of other topics.

    Raises:
        InputError: all topics together do not have so many candidates.
    """
    all_ids = dict.fromkeys(d for ids in candidates.per_topic.values() for d in ids)
    if len(all_ids) < documents:
        raise InputError(
            f"the topics have {len(all_ids):,} different candidates, not {documents:,}; "
            "ask for fewer with --documents."
        )
    by_size = sorted(candidates.topics, key=lambda t: -len(candidates.per_topic[t.id]))
    return [
        (topic, list(dict.fromkeys([*candidates.per_topic[topic.id], *all_ids]))[:documents])
        for topic in by_size[:topics]
    ]


def time_reranker(
    choice: RerankerChoice,
    topic_pools: Sequence[tuple[Topic, Sequence[str]]],
    rounds: int,
    resources: CollectionResources,
    judgments: Mapping[str, Mapping[str, float]],
) -> Timing:
    """Time a reranker.

    Args:
        choice: the reranker.
        topic_pools: topics with the ids of their documents.
        rounds: measurements of each topic.
        resources: the harness's resources; their device is the one that is timed.
        judgments: to train briefly with, where a model cannot score untrained.
    """
    device = resources.device
    try:
        member, weights = ready(choice, topic_pools, resources, judgments)
        milliseconds = []
        for topic, doc_ids in topic_pools:
            for turn in range(rounds + 1):
                documents = resources.documents(doc_ids)
                forget_features()
                with choice.registration.at_work(f"scoring topic {topic.id}"):
                    started = time.perf_counter()
                    scores = member.score(topic, documents)
                    seconds = time.perf_counter() - started
                checked_scores(choice.registration.who, topic, documents, scores)
                if turn:  # the first one warms up
                    milliseconds.append(seconds * 1000)
    except PlatformError as error:
        return Timing(choice.name, device, problem=str(error))
    return Timing(choice.name, device, weights, milliseconds)
