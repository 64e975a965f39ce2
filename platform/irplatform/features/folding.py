"""Features that are learned, for the topics that they are learned from: out of fold.

A model that ranks a training topic with features that its own judgments went into learns to trust
them more than they deserve. So the topics are split into folds; the instance of a group that
computes a fold's features has learned from the other folds. Topics that belong together (sentences
of one citing article, topics that ask the same) stay in one fold, and unless a group is meant to
remember documents, what the fold's topics judge is left out of what the others say.

All members of a system share these instances, which are kept in the cache: the folds are of all
topics, those that a member validates on too. No topic's features come from its own judgments; what
a member's validation topics say does reach the features of its training topics.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from irplatform import __version__
from irplatform.plugin import TrainableFeatureGroup, TrainingData
from irplatform.storage import fingerprint
from irplatform.training.topic_marks import families

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from irplatform.features.groups import Group
    from irplatform.plugin import Documents, FeatureGroup, LabelledTopic, Resources, Topic

_WHOLE = -1
"""In place of a fold: the instance for topics that are in none."""


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
    first = {name: name for name in kin}

    def root(name: str) -> str:
        while first[name] != name:
            name = first[name]
        return name

    member: dict[int, str] = {}
    for name, family in zip(kin, families, strict=True):
        one, other = sorted([root(name), root(member.setdefault(family, name))])
        first[other] = one
    return {name: root(name) for name in first}


class CrossFitted(TrainableFeatureGroup):
    """A group that learned: one instance per fold of the topics, and one for all other topics.

    Args:
        whole: the instance for other topics, and all that is saved.
        instances: the instance of each fold.
        folds: the fold of each topic, by its mark.
    """

    def __init__(
        self,
        whole: TrainableFeatureGroup,
        instances: Mapping[int, FeatureGroup],
        folds: Mapping[str, int],
    ) -> None:
        super().__init__(whole.options)
        self._whole = whole
        self._instances: dict[int, FeatureGroup] = {**instances, _WHOLE: whole}
        self._folds = dict(folds)

    def names(self) -> tuple[str, ...]:
        """Those of the group."""
        return self._whole.names()

    def check(self) -> Mapping[str, object]:
        """What the group's options name depends on."""
        return self._whole.check()

    def depends_on(self) -> Mapping[str, object]:
        """What the group depends on."""
        return self._whole.depends_on()

    def compute(self, topic: Topic, documents: Documents) -> npt.NDArray[np.float32]:
        """Features from the instance that never saw the topic's judgments."""
        return self.compute_batch([(topic, documents)])[0]

    def compute_batch(
        self, batch: Sequence[tuple[Topic, Documents]]
    ) -> list[npt.NDArray[np.float32]]:
        """The same for several topics."""
        found: dict[int, npt.NDArray[np.float32]] = {}
        folds = [self._folds.get(_mark(topic), _WHOLE) for topic, _ in batch]
        for fold in sorted(set(folds)):
            places = [place for place, held in enumerate(folds) if held == fold]
            computed = self._instances[fold].compute_batch([batch[place] for place in places])
            found.update(zip(places, computed, strict=True))
        return [found[place] for place in range(len(batch))]

    def save(self, folder: Path) -> None:
        """Write the instance for topics that are in no fold."""
        self._whole.save(folder)


def cross_fitted(group: Group, data: TrainingData, resources: Resources, how: Folding) -> Group:
    """A group that learned from the topics of a system.

    Args:
        group: which.
        data: the topics of a member: what it learns from and what it is validated on.
        resources: the harness's resources.
        how: how topics are split.
    """
    topics = sorted([*data.training, *data.validation], key=lambda t: t.topic.id)
    folds = how.split(topics)
    instances: dict[int, FeatureGroup] = {}
    marks = {}
    for fold in (*sorted(set(folds)), _WHOLE):
        learned = _training_topics(topics, folds, fold, group.remembers, hides=how.hide_judged)
        own = [t.topic for t, held in zip(topics, folds, strict=True) if held == fold]
        instances[fold], marks[fold] = _fitted(group, learned, own, data.workspace, resources)
    whole = instances.pop(_WHOLE)
    assert isinstance(whole, TrainableFeatureGroup)  # `_fitted` makes no other
    held = {_mark(t.topic): fold for t, fold in zip(topics, folds, strict=True)}
    return replace(
        group,
        held=CrossFitted(whole, instances, held),
        learned=fingerprint({"instances": [marks[fold] for fold in sorted(marks)]}),
        saved=marks[_WHOLE],
    )


def _training_topics(
    topics: Sequence[LabelledTopic],
    folds: Sequence[int],
    fold: int,
    remembers: bool,
    *,
    hides: bool,
) -> tuple[list[LabelledTopic], list[LabelledTopic]]:
    """What the instance of a fold learns from, and what it may stop early on: the next fold."""
    others = [t for t, held in zip(topics, folds, strict=True) if held != fold]
    if remembers:
        return others, []
    following = sorted(set(folds) - {fold}, key=lambda held: (held < fold, held))
    apart = following[0] if following else _WHOLE
    stop = [t for t, held in zip(topics, folds, strict=True) if held == apart != fold]
    learn = [t for t, held in zip(topics, folds, strict=True) if held not in (fold, apart)]
    judged = (t.judgments for t, held in zip(topics, folds, strict=True) if held == fold)
    hidden = {doc_id for judgments in judged for doc_id in judgments} if hides else set()
    if not learn:  # two folds, or one
        learn = others
    return [_without(t, hidden) for t in learn], [_without(t, hidden) for t in stop]


def _fitted(
    group: Group,
    topics: tuple[Sequence[LabelledTopic], Sequence[LabelledTopic]],
    unseen: Sequence[Topic],
    workspace: Path,
    resources: Resources,
) -> tuple[FeatureGroup, str]:
    """An instance that learned, trained or from the cache; and what stands for it."""
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
        made = _prepared(group, resources)
        place = workspace / f"{group.name}-{mark}"
        place.mkdir(parents=True, exist_ok=True)
        with group.at_work("learning"):
            made.fit(TrainingData(training, validation, place, unseen))
            made.save(folder)

    folder = resources.artifact("learned-features", depends_on, build)
    made = _prepared(group, resources)
    with group.at_work("loading"):
        made.load(folder)
    return made, mark


def _prepared(group: Group, resources: Resources) -> TrainableFeatureGroup:
    made = resources.feature_group(group.name, group.settings)
    if not isinstance(made, TrainableFeatureGroup):
        raise TypeError(f"feature group '{group.name}' does not learn")
    return made


def _without(topic: LabelledTopic, hidden: set[str]) -> LabelledTopic:
    """A topic without what it says about some documents."""
    if not hidden:
        return topic
    kept = [i for i, doc_id in enumerate(topic.candidates) if doc_id not in hidden]
    return replace(
        topic,
        candidates=tuple(topic.candidates[i] for i in kept),
        first_stage=tuple(topic.first_stage[i] for i in kept) if topic.first_stage else (),
        judgments={d: grade for d, grade in topic.judgments.items() if d not in hidden},
    )


def _mark(topic: Topic) -> str:
    return fingerprint({"topic": [topic.id, topic.query]})


def _digest(topics: Sequence[LabelledTopic]) -> str:
    """Stands for topics, candidates, first-stage scores and judgments."""
    mark = hashlib.sha256()
    for held in topics:
        mark.update(fingerprint({"topic": held.topic.describe()}).encode())
        mark.update(repr((held.candidates, held.first_stage)).encode())
        mark.update(repr(sorted(held.judgments.items())).encode())
    return mark.hexdigest()
