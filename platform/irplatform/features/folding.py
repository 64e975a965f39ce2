"""How training topics are split into folds, for features that are learned out of fold.

Topics that belong together (sentences of one citing article, topics that ask the same) stay in one
fold: a feature that learned from one of them would know the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from irplatform.training.topic_marks import components, families

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import LabelledTopic


@dataclass(frozen=True)
class Folding:
    """How topics are split.

    Attributes:
        folds: how many folds.
        apart: the topic field whose values keep topics together.
        hide_judged: what a fold's topics judge is left out of what the others say, unless a group
            is meant to remember documents: right where new topics have new documents.
    """

    folds: int
    apart: str
    hide_judged: bool = True

    def split(self, topics: Sequence[LabelledTopic]) -> list[int]:
        """Per topic, its fold; the same for the same topics, in whatever order."""
        kin = [str(t.topic.fields.get(self.apart) or f"\0{t.topic.id}") for t in topics]
        names = sorted(set(kin))
        order = np.random.default_rng(5).permutation(len(names))
        fold_of = {names[place]: rank % self.folds for rank, place in enumerate(order)}
        first = _together(kin, families([t.topic for t in topics]))
        parted = sorted(set(first.values()))
        if len({fold_of[name] for name in parted}) < min(self.folds, len(parted)):
            fold_of = {name: rank % self.folds for rank, name in enumerate(parted)}
        return [fold_of[first[name]] for name in kin]


def _together(kin: Sequence[str], families: Sequence[int]) -> dict[str, str]:
    """Per name the first of those that a family of topics ties it to, directly or not."""
    tied = components(list(zip(kin, families, strict=True)))
    first: dict[int, str] = {}
    for name, component in sorted(zip(kin, tied, strict=True)):
        first.setdefault(component, name)
    return {name: first[component] for name, component in zip(kin, tied, strict=True)}
