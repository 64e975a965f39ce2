"""Out-of-fold features of groups that learn, for the topics that they learn from.

A model learns to trust features too much if its topics' judgments went into them. So topics are
split into folds, and a fold's features come from an instance that learned from the others, without
the documents that the fold judges, unless a group is meant to remember documents. Related topics
stay in one fold. All members of a system share the instances, so judgments of a member's validation
topics do reach the features of its training topics.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from irplatform.data import TrainingData
from irplatform.errors import InputError
from irplatform.files.digests import fingerprint
from irplatform.plugin.features import TrainableFeatureGroup
from irplatform.training.topic_identity import components, families
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from irplatform.data import Documents, LabelledTopic, Topic
    from irplatform.features.groups import Group
    from irplatform.plugin.features import FeatureGroup
    from irplatform.plugin.resources import Resources


_WHOLE = -1
"""In place of a fold: the instance for all other topics."""


def cross_fitted(group: Group, data: TrainingData, resources: Resources, folding: Folding) -> Group:
    """A group that learned from the topics of a system."""
    topics = sorted([*data.training, *data.validation], key=lambda t: t.topic.id)
    folds = folding.split(topics)
    instances: dict[int, FeatureGroup] = {}
    marks = {}
    for fold in (*sorted(set(folds)), _WHOLE):
        learned = _training_topics(
            topics, folds, fold, remembers=group.remembers, hides=folding.hide_judged
        )
        of_fold = [t.topic for t, its_fold in zip(topics, folds, strict=True) if its_fold == fold]
        unseen = [*data.unseen, *of_fold]
        instances[fold], marks[fold] = _fitted(group, learned, unseen, data.workspace, resources)
    full_instance = instances.pop(_WHOLE)
    assert isinstance(full_instance, TrainableFeatureGroup)  # `_fitted` makes no other
    fold_by_mark = {_mark(t.topic): fold for t, fold in zip(topics, folds, strict=True)}
    return replace(
        group,
        instance=CrossFitted(full_instance, instances, fold_by_mark),
        learned=fingerprint({"instances": [marks[fold] for fold in sorted(marks)]}),
        saved=marks[_WHOLE],
    )


class CrossFitted(TrainableFeatureGroup):
    """A group that learned: one instance per fold of the topics, and one for all other topics."""

    def __init__(
        self,
        full_instance: TrainableFeatureGroup,
        instances: Mapping[int, FeatureGroup],
        folds: Mapping[str, int],
    ) -> None:
        super().__init__(full_instance.options)
        self._full_instance = full_instance
        self._instances: dict[int, FeatureGroup] = {**instances, _WHOLE: full_instance}
        self._folds = dict(folds)

    def names(self) -> tuple[str, ...]:
        """The group's."""
        return self._full_instance.names()

    def prepared_with(self) -> Mapping[str, object]:
        """The group's."""
        return self._full_instance.prepared_with()

    def compute_batch(
        self, batch: Sequence[tuple[Topic, Documents]]
    ) -> list[npt.NDArray[np.float32]]:
        """Features from the instances that never saw the topics' judgments."""
        features: dict[int, npt.NDArray[np.float32]] = {}
        folds = [self._folds.get(_mark(topic), _WHOLE) for topic, _ in batch]
        for fold in sorted(set(folds)):
            places = [place for place, its_fold in enumerate(folds) if its_fold == fold]
            computed = self._instances[fold].compute_batch([batch[place] for place in places])
            features.update(zip(places, computed, strict=True))
        return [features[place] for place in range(len(batch))]

    def save(self, folder: Path) -> None:
        """Write the instance for topics in no fold."""
        self._full_instance.save(folder)


@dataclass(frozen=True)
class Folding:
    """How topics are split: into `folds`, those with one value of the field `apart` together.

    `hide_judged` removes the documents that a fold judges from the others' training data, unless a
    group is meant to remember documents: right if new topics have new documents.
    """

    folds: int
    apart: str
    hide_judged: bool = True

    def split(self, topics: Sequence[LabelledTopic]) -> list[int]:
        """The fold of each topic; the same for the same topics, in whatever order."""
        labels = [str(t.topic.fields.get(self.apart) or f"\0{t.topic.id}") for t in topics]
        names = sorted(set(labels))
        order = np.random.default_rng(5).permutation(len(names))
        fold_of = {names[place]: rank % self.folds for rank, place in enumerate(order)}
        first = _together(labels, families([t.topic for t in topics]))
        parted = sorted(set(first.values()))
        if len({fold_of[name] for name in parted}) < min(self.folds, len(parted)):
            fold_of = {name: rank % self.folds for rank, name in enumerate(parted)}
        return [fold_of[first[name]] for name in labels]


def _together(labels: Sequence[str], families: Sequence[int]) -> dict[str, str]:
    """For each name, the first of those that a family of topics ties it to, directly or not."""
    tied = components(list(zip(labels, families, strict=True)))
    first: dict[int, str] = {}
    for name, component in sorted(zip(labels, tied, strict=True)):
        first.setdefault(component, name)
    return {name: first[component] for name, component in zip(labels, tied, strict=True)}


def _training_topics(
    topics: Sequence[LabelledTopic],
    folds: Sequence[int],
    fold: int,
    *,
    remembers: bool,
    hides: bool,
) -> tuple[list[LabelledTopic], list[LabelledTopic]]:
    """The topics that a fold's instance learns from, and the next fold, to stop early on."""

    def topics_of(some_folds: Sequence[int]) -> list[LabelledTopic]:
        return [t for t, its_fold in zip(topics, folds, strict=True) if its_fold in some_folds]

    following = sorted(set(folds) - {fold}, key=lambda other: (other < fold, other))
    if remembers:
        return topics_of(following), []
    hidden = {d for topic in topics_of([fold]) for d in topic.judgments} if hides else set()
    learn, stop = following[1:] or following, following[:1]  # of two folds, one does both
    return (
        [_without(topic, hidden) for topic in topics_of(learn)],
        [_without(topic, hidden) for topic in topics_of(stop)],
    )


def _fitted(
    group: Group,
    topics: tuple[Sequence[LabelledTopic], Sequence[LabelledTopic]],
    unseen: Sequence[Topic],
    workspace: Path,
    resources: Resources,
) -> tuple[FeatureGroup, str]:
    training, validation = topics
    depends_on = {
        "group": group.described,
        "irplatform": __version__,
        "topics": _digest(training),
        "validation": _digest(validation),
        "unseen": [topic.describe() for topic in unseen],
        "seed": resources.system_seed,
        "device": resources.device,
        "model_threads": resources.model_threads,
    }
    mark = fingerprint(depends_on)

    def build(folder: Path) -> None:
        instance = _prepared(group, resources)
        place = workspace / f"{group.name}-{mark}"
        place.mkdir(parents=True, exist_ok=True)
        with group.plugin_call("learning"):
            try:
                instance.fit(TrainingData(training, validation, place, unseen))
            except InputError as error:
                if any(grade > 0 for topic in training for grade in topic.judgments.values()):
                    raise
                raise InputError(
                    f"features '{group.name}' have nothing relevant to learn from outside a fold: "
                    "the topics judge the same documents, or are all related. Leave out "
                    f"'{group.name}'."
                ) from error
        group.save(instance, folder)

    folder = resources.artifact("learned-features", depends_on, build)
    instance = _prepared(group, resources)
    with group.plugin_call("loading"):
        instance.load(folder)
    return instance, mark


def _prepared(group: Group, resources: Resources) -> TrainableFeatureGroup:
    instance = resources.feature_group(group.name, group.settings)
    if not isinstance(instance, TrainableFeatureGroup):
        raise TypeError(f"feature group '{group.name}' does not learn")
    return instance


def _without(topic: LabelledTopic, hidden: set[str]) -> LabelledTopic:
    if not hidden:
        return topic
    places = [i for i, doc_id in enumerate(topic.candidates) if doc_id not in hidden]
    return replace(
        topic,
        candidates=tuple(topic.candidates[i] for i in places),
        first_stage=tuple(topic.first_stage[i] for i in places) if topic.first_stage else (),
        judgments={d: grade for d, grade in topic.judgments.items() if d not in hidden},
    )


def _mark(topic: Topic) -> str:
    return fingerprint({"topic": [topic.id, topic.query]})


def _digest(topics: Sequence[LabelledTopic]) -> str:
    mark = hashlib.sha256()
    for labelled in topics:
        mark.update(fingerprint({"topic": labelled.topic.describe()}).encode())
        mark.update(repr((labelled.candidates, labelled.first_stage)).encode())
        mark.update(repr(sorted(labelled.judgments.items())).encode())
    return mark.hexdigest()
