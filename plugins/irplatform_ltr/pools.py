"""The documents of training topics that a model learns from.

Relevant and rejected documents, and a sample of candidates that nobody judged, which count as not
relevant: without them a model never sees what most of a ranking consists of. Documents are taken as
the first stage found them; adding relevant ones that it missed teaches a model that a poor
first-stage score is a good sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import LabelledTopic
    from irplatform_ltr.options import PoolOptions


@dataclass(frozen=True)
class Pool:
    """Documents of a topic to learn from.

    Attributes:
        labelled: the topic.
        doc_ids: relevant and not relevant documents, by id.
        grades: int64, one per document, 0 or more.
    """

    labelled: LabelledTopic
    doc_ids: tuple[str, ...]
    grades: npt.NDArray[np.int64]


def draw_pools(topics: Sequence[LabelledTopic], options: PoolOptions) -> list[Pool]:
    """The pools of the topics that have something to tell apart; drawn by the topic's id alone."""
    drawn = (_pool(topic, options) for topic in topics)
    return [pool for pool in drawn if len(set(pool.grades.tolist())) > 1]


def _pool(topic: LabelledTopic, options: PoolOptions) -> Pool:
    random = np.random.default_rng(list(topic.topic.id.encode()))
    candidates = set(topic.candidates)
    grades = {
        doc_id: max(grade, 0)
        for doc_id, grade in topic.judgments.items()
        if options.relevant == "judged" or doc_id in candidates
    }
    relevant = [d for d, grade in grades.items() if grade > 0]
    rejected = _some([d for d, grade in grades.items() if grade == 0], options.rejected, random)
    most, head = options.unjudged, options.head
    if rejected:  # the best candidates were judged, then
        share, head = options.unjudged_share, 0.0
        most = min(most, round(len(rejected) * share / (1 - share)))
    others = [d for d in _best_first(topic) if d not in topic.judgments]
    best = others[: options.head_depth] if head else []
    first = _some(best, round(most * head), random)
    unjudged = _some(others[len(best) :], most - len(first), random)
    chosen = sorted([*relevant, *rejected, *first, *unjudged])
    return Pool(topic, tuple(chosen), np.array([grades.get(d, 0) for d in chosen], dtype=np.int64))


def _best_first(topic: LabelledTopic) -> list[str]:
    """The candidates by the first stage's scores; in their own order where it has none."""
    if not topic.first_stage:
        return list(topic.candidates)
    order = np.argsort(-np.asarray(topic.first_stage), kind="stable")
    return [topic.candidates[place] for place in order]


def _some(items: Sequence[str], most: int, random: np.random.Generator) -> list[str]:
    """At most `most` of the items, whatever their order."""
    ordered = sorted(items)
    if len(ordered) <= most:
        return ordered
    return [ordered[i] for i in np.sort(random.choice(len(ordered), most, replace=False))]
