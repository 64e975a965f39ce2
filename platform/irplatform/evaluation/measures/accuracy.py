"""Accuracy: the share of pairs of a relevant and another retrieved document in the right order.

    Accuracy = 1 - pairs with the other one first / (relevant results * other results)

Computed here since ir-measures fails for a topic that retrieves relevant documents only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.evaluation.kinds import OfRanking, Standard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.evaluation.kinds import IrMeasure, RegisterMeasure


def accuracy(measure: IrMeasure, grades: Mapping[str, float], doc_ids: Sequence[str]) -> float:
    """Return the share of pairs of a relevant and another retrieved document in the right order.

    0 if nothing relevant is retrieved, 1 if nothing else is. Unjudged documents are not relevant.
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


def register_measures(register: RegisterMeasure) -> None:
    """Register `Accuracy`."""
    register("Accuracy", Standard(OfRanking(accuracy)))
