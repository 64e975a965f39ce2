"""Accuracy as ir-measures defines it, also where its own code divides by 0.

It is the share of the pairs of a relevant and another retrieved document that are in the right
order. ir-measures' code fails at the first topic that retrieves relevant documents and no others,
as under `Accuracy@1` every topic with a relevant document at rank 1 does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.evaluation.measures import Measure


def accuracy(measure: Measure, grades: Mapping[str, int], doc_ids: Sequence[str]) -> float:
    """Accuracy of a topic.

    Args:
        measure: an `ir_measures.Accuracy`; its cutoff and its least grade are heeded.
        grades: of the topic's judged documents; others are not relevant.
        doc_ids: the ranking, best first.

    Returns:
        A number in [0, 1]: 0 where nothing relevant is retrieved, 1 where nothing else is.
    """
    relevant = others = wrong = 0
    for doc_id in doc_ids[: measure.params.get("cutoff")]:
        if grades.get(doc_id, 0) >= measure["rel"]:
            relevant += 1
            wrong += others
        else:
            others += 1
    if not relevant:
        return 0.0
    return 1 - wrong / (relevant * others) if others else 1.0
