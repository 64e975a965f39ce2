"""Features that are learned, for the topics that they are learned from: out of fold.

A model that ranks a training topic with features that its own judgments went into learns to trust
them more than they deserve. So the training topics are split into folds; a group's instance that
computes a fold's features has learned from the other folds. Topics that belong together (sentences
of one citing article) stay in one fold, and unless a group is meant to remember documents, what the
fold's topics judge is left out of what the others say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from irplatform.plugin import LabelledTopic, TrainableFeatureGroup, TrainingData
from irplatform.storage import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.features.groups import Features, Group
    from irplatform.plugin import Resources

Pool = tuple[LabelledTopic, tuple[str, ...]]
"""A training topic, and the documents of it that a model learns from."""


@dataclass(frozen=True)
class Folding:
    """How training topics are split.

    Attributes:
        folds: how many folds.
        apart: the topic field whose values keep topics together.
        seed: of the split.
    """

    folds: int
    apart: str
    seed: int

    def split(self, topics: Sequence[LabelledTopic]) -> list[int]:
        """Per topic, its fold."""
        kin = [str(t.topic.fields.get(self.apart) or f"\0{t.topic.id}") for t in topics]
        families = sorted(set(kin))
        order = np.random.default_rng([self.seed, 5]).permutation(len(families))
        fold_of = {families[family]: rank % self.folds for rank, family in enumerate(order)}
        return [fold_of[name] for name in kin]


def out_of_fold(
    group: Group, pools: Sequence[Pool], data: TrainingData, resources: Resources, how: Folding
) -> list[Features]:
    """Features of every pool, from an instance that never saw its topic's judgments."""
    folds = how.split(data.training)
    fold_of = {t.topic.id: fold for t, fold in zip(data.training, folds, strict=True)}
    found: dict[str, Features] = {}
    for fold in sorted(set(folds)):
        held_out = [pool for pool in pools if fold_of[pool[0].topic.id] == fold]
        if not held_out:
            continue
        others = [t for t, other in zip(data.training, folds, strict=True) if other != fold]
        instance = fitted(group, others, held_out, data, resources)
        for labelled, doc_ids in held_out:
            asked = [(labelled.topic, resources.documents(doc_ids))]
            found[labelled.topic.id] = instance.checked(asked)[0]
    return [found[labelled.topic.id] for labelled, _ in pools]


def fitted(
    group: Group,
    topics: Sequence[LabelledTopic],
    held_out: Sequence[Pool],
    data: TrainingData,
    resources: Resources,
) -> Group:
    """A fresh instance of a group that learned from some topics.

    Args:
        group: which.
        topics: what to learn from.
        held_out: pools that it will compute features for; empty for topics that are not ours.
        data: where validation topics and the workspace come from.
        resources: what the harness lends.
    """
    made = resources.feature_group(group.name, group.settings)
    if not isinstance(made, TrainableFeatureGroup):
        raise TypeError(f"feature group '{group.name}' does not learn")
    if not made.remembers_documents and held_out:
        hidden = {d for labelled, _ in held_out for d in labelled.judgments}
        topics = [_without(topic, hidden) for topic in topics]
    mark = fingerprint({"topics": [t.topic.id for t in topics], "group": group.described})
    workspace = data.workspace / f"{group.name}-{mark}"
    workspace.mkdir(parents=True, exist_ok=True)
    made.fit(TrainingData(topics, data.validation, workspace))
    return replace(group, held=made)


def _without(topic: LabelledTopic, hidden: set[str]) -> LabelledTopic:
    """A topic without what it says about some documents."""
    kept = [i for i, doc_id in enumerate(topic.candidates) if doc_id not in hidden]
    return replace(
        topic,
        candidates=tuple(topic.candidates[i] for i in kept),
        first_stage=tuple(topic.first_stage[i] for i in kept) if topic.first_stage else (),
        judgments={d: grade for d, grade in topic.judgments.items() if d not in hidden},
    )
