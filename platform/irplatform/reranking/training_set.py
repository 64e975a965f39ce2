"""Training sets of rerankers: judged topics with their candidates, and their splits.

Without separate validation topics, the training topics are split into folds. Each fold validates
the member that learned from the others, so no topic is lost, and the weight of interpolation is
chosen on all of them. A `dev` split validates every member, and members differ by their seeds. A
topic without a relevant document says nothing about a ranking: the others are dealt out first.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from irplatform.data import LabelledTopic, Topic
from irplatform.errors import counted, listing
from irplatform.files.cache import artifact
from irplatform.files.digests import fingerprint
from irplatform.files.formats import read_own_json
from irplatform.reranking.systems import MEMBERS
from irplatform.retrieval.lookup import missing_documents
from irplatform.training.checkpoints import Checkpoint
from irplatform.training.topic_identity import topic_marks
from irplatform.workers.distribution import sample_evenly

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from irplatform.collection_resources import CollectionResources, UsageLog
    from irplatform.data import Qrels
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.retrieval.candidates import Candidates
    from irplatform.runs import Ranking

T = TypeVar("T")

FOLDS = 5
"""Of cross-validation over a collection's own topics."""
MOST_WEIGHING_TOPICS = 300
"""Topics of a split that the weight of interpolation is chosen on; more would only take longer."""

_SEEDS_APART = 1000
"""Between the seeds of repeated trainings: the members of each have seeds that follow its own."""
_MISSING = "missing.json"


@dataclass(frozen=True)
class Example:
    """A judged topic with its candidates and the first stage's ranking."""

    labelled: LabelledTopic
    first: Ranking

    @property
    def topic(self) -> Topic:
        """The topic without judgments and candidates."""
        return self.labelled.topic

    @property
    def has_relevant(self) -> bool:
        """A document is relevant to the topic."""
        return any(grade > 0 for grade in self.labelled.judgments.values())

    @property
    def found_relevant(self) -> bool:
        """A relevant document is among the candidates."""
        judgments = self.labelled.judgments
        return any(judgments.get(doc_id, 0) > 0 for doc_id in self.labelled.candidates)


@dataclass(frozen=True)
class TrainingSet:
    """Topics that systems are fitted on, labelled by their collection's id.

    The validation topics are separate ones, if the collection has some. In cross-validation the
    topics of the fold that is left out are `held_out`.
    """

    label: str
    training: Sequence[Example]
    validation: Sequence[Example] | None = None
    held_out: Sequence[Topic] = ()

    @property
    def topics(self) -> list[Topic]:
        """All topics, including validation topics."""
        return [
            example.topic for part in (self.training, self.validation or ()) for example in part
        ]

    def with_validation_apart(self, notice: Callable[[str], object]) -> TrainingSet:
        """Leave out validation topics that ask what a training topic asks, with a notice."""
        learned = {mark for example in self.training for mark in topic_marks(example.topic)}
        validation = self.validation or ()
        unseen = [
            example for example in validation if learned.isdisjoint(topic_marks(example.topic))
        ]
        if not (repeated := len(validation) - len(unseen)):
            return self
        notice(
            f"{self.label}: {counted(repeated, 'validation topic')} of {len(validation):,} "
            f"{'asks' if repeated == 1 else 'ask'} what a training topic asks, and "
            f"{'is' if repeated == 1 else 'are'} left out"
        )
        return replace(self, validation=unseen or None)

    @property
    def identity(self) -> dict[str, Any]:
        """All that it depends on, as JSON."""
        return {"content": self.fingerprint}

    @property
    def fingerprint(self) -> str:
        """Of topics, candidates, judgments, first-stage rankings and held-out topics."""
        digest = hashlib.sha256()
        for part in (self.training, self.validation or ()):
            digest.update(b"\0part")
            for example in part:
                labelled = example.labelled
                digest.update(fingerprint({"topic": labelled.topic.describe()}).encode())
                digest.update(repr(labelled.candidates).encode())
                digest.update(repr(sorted(labelled.judgments.items())).encode())
                digest.update(repr(example.first.doc_ids).encode())
                digest.update(example.first.scores.tobytes())
        for topic in self.held_out:
            digest.update(b"\0held out" + fingerprint({"topic": topic.describe()}).encode())
        return digest.hexdigest()[:16]


class LaterTrainingSet(TrainingSet):
    """The training set of a training collection's topics, made of its candidates at first use.

    Validation topics that ask what a training topic asks are left out, with a notice.
    """

    def __init__(self, candidates: Candidates, resources: CollectionResources) -> None:
        values = {"label": candidates.name, "held_out": ()}
        self.__dict__.update(values, _candidates=candidates, _resources=resources)

    @cached_property
    def _set_and_usage(self) -> tuple[TrainingSet, UsageLog]:
        candidates, resources = self.__dict__["_candidates"], self.__dict__["_resources"]
        with resources.record() as usage:
            training_data = training_set(candidates, resources).with_validation_apart(
                resources.notice
            )
        return training_data, usage

    def _examples(self) -> TrainingSet:
        training_data, usage = self._set_and_usage
        self.__dict__["_resources"].replay(usage)  # for each system that learns from it
        return training_data

    @property
    def training(self) -> Sequence[Example]:
        """The topics to learn from."""
        return self._examples().training

    @property
    def validation(self) -> Sequence[Example] | None:
        """The topics to validate on."""
        return self._examples().validation

    @property
    def identity(self) -> dict[str, Any]:
        """All that it depends on, without making it."""
        identity: dict[str, Any] = self.__dict__["_candidates"].judged_identity
        return identity


@dataclass(frozen=True)
class LearningPlan:
    """What rerankers learn from: a checkpoint, a training set, or the topics' own folds.

    `pretraining` is what all that learn are pre-trained on; `declared` what those are that declare
    it themselves (`Traits.pretraining`). There are `fold_count` folds. `interpolate` is the first
    stage's share in the final scores, or None to choose it. Where each seed draws topics of its
    own, `per_seed` has them.
    """

    training_set: TrainingSet | None = None
    checkpoint: Path | None = None
    folds: bool = False
    fold_count: int = FOLDS
    pretraining: TrainingSet | None = None
    declared: TrainingSet | None = None
    interpolate: float | None = None
    per_seed: Mapping[int, TrainingSet] = field(default_factory=dict)

    def of_seed(self, seed: int) -> LearningPlan:
        """The plan of a repetition with another seed."""
        return replace(self, training_set=self.per_seed.get(seed, self.training_set))

    def describe(self, choice: ChosenReranker) -> dict[str, Any]:
        """All that a reranker learns from, beside the topics that it ranks."""
        checkpoint, before = self.checkpoint_of(choice), self.pretraining_of(choice)
        learned_from = self.training_set if choice.trainable or self.interpolate is None else None
        opened = checkpoint and [checkpoint.description, checkpoint.weights]
        return {
            "checkpoint": opened and fingerprint({"checkpoint": opened}),
            "training": learned_from and learned_from.identity,
            "pretraining": before.identity if before and choice.trainable else None,
            "folds": self.folds,
            **({"fold_count": self.fold_count} if self.fold_count != FOLDS else {}),
            "interpolate": self.interpolate,
        }

    def checkpoint_of(self, choice: ChosenReranker) -> Checkpoint | None:
        """The checkpoint that a reranker is taken from, if it learns."""
        return Checkpoint.read(self.checkpoint) if self.checkpoint and choice.trainable else None

    def pretraining_of(self, choice: ChosenReranker) -> TrainingSet | None:
        """The training set that a reranker is pre-trained on."""
        return self.declared if self.declared and choice.traits.pretraining else self.pretraining


def training_set(candidates: Candidates, resources: CollectionResources) -> TrainingSet:
    """Return the training set of a training collection's topics."""
    training, validation = examples(candidates, resources), candidates.validation
    apart = examples(validation, resources) if validation else []
    return TrainingSet(candidates.name, training, apart or None)


def examples(candidates: Candidates, resources: CollectionResources) -> list[Example]:
    """Return the judged topics to learn from, without judgments of missing documents.

    Official judgments name documents that a copy of the corpus lacks. Measures count them, but
    nothing can be learned from them. A negative grade marks an unjudged document.
    """
    qrels = {topic.id: candidates.qrels[topic.id] for topic in candidates.judged_topics}
    missing = _missing(candidates, qrels, resources)
    if missing:
        judged_count = len({doc_id for grades in qrels.values() for doc_id in grades})
        resources.notice(
            f"{len(missing):,} of the {judged_count:,} judged documents of "
            f"'{candidates.name or resources.corpus.name}' are not among its documents "
            f"({listing(sorted(missing))}): nothing is learned from them"
        )
    judged = []
    for topic in candidates.judged_topics:
        first, doc_ids = candidates.first.rankings[topic.id], candidates.per_topic[topic.id]
        scores = dict(first)
        grades = {d: g for d, g in qrels[topic.id].items() if d not in missing and g >= 0}
        labelled = LabelledTopic(topic, doc_ids, grades, tuple(scores[d] for d in doc_ids))
        judged.append(Example(labelled, first))
    return judged


def _missing(
    candidates: Candidates, judged: Qrels, resources: CollectionResources
) -> frozenset[str]:
    """The judged documents that do not exist; the index is asked once, and not for candidates.

    The cache key has index and judgments alone, so a run that finds everything in the cache does
    not open the index.
    """
    if all(set(grades) <= set(candidates.per_topic[topic]) for topic, grades in judged.items()):
        return frozenset()
    doc_ids = sorted({doc_id for grades in judged.values() for doc_id in grades})

    def look(folder: Path) -> None:
        missing_ids = sorted(missing_documents([doc_ids], resources))
        (folder / _MISSING).write_text(json.dumps(missing_ids), encoding="utf-8")

    index = resources.index_artifact().fingerprint
    depends_on = {"format": 1, "index": index, "judged": fingerprint({"ids": doc_ids})}
    check = artifact("check", f"{resources.corpus.name}-judged", depends_on, look)
    return frozenset(read_own_json(check.path / _MISSING))


def seeds_of(first: int, count: int) -> list[int]:
    """Return the seeds of repeated trainings of a system, whose members share none."""
    return [(first + _SEEDS_APART * number) % 2**32 for number in range(count)]


@dataclass(frozen=True)
class Split(Generic[T]):
    """Topics to learn from and topics to validate on."""

    training: tuple[T, ...]
    validation: tuple[T, ...]

    @property
    def weight_topics(self) -> tuple[T, ...]:
        """The validation topics that the weight of interpolation is chosen on."""
        return weight_topics(self.validation)


def weight_topics(topics: Sequence[T]) -> tuple[T, ...]:
    """Return the topics to choose a weight on: all, or an even sample of many."""
    return tuple(sample_evenly(topics, MOST_WEIGHING_TOPICS))


def split_topics(
    topics: Sequence[T],
    validation: Sequence[T] | None,
    seed: int,
    members: int = MEMBERS,
    families: Sequence[int] | None = None,
    useful: Sequence[bool] | None = None,
) -> list[Split[T]]:
    """Split the training topics; one split per member of the system.

    Each split has a useful topic to validate on, so few useful topics make fewer splits.
    `validation` has separate validation topics; for `families` and `useful` see `fold_topics`.
    """
    if validation:
        return [Split(tuple(topics), tuple(validation))] * members
    folds = max(members, MEMBERS)
    if useful is not None:
        family_of = families or range(len(topics))
        folds = min(folds, len({family_of[place] for place, use in enumerate(useful) if use}))
    return fold_topics(topics, folds, seed, families, useful)[:members]


def fold_topics(
    topics: Sequence[T],
    folds: int,
    seed: int,
    families: Sequence[int] | None = None,
    useful: Sequence[bool] | None = None,
) -> list[Split[T]]:
    """Split topics so that every topic validates in exactly one of `folds` splits.

    There are at most as many as families: numbers from 0, per topic, of topics that stay together.
    By default each topic is its own family. Topics with a relevant document are `useful`: each fold
    gets one, as long as there are enough.
    """
    family_of = list(range(len(topics))) if families is None else families
    use = [True] * len(topics) if useful is None else useful
    random = np.random.default_rng([seed, 7])
    # Where the first of a family goes, the others follow: they move no other topic.
    first = {family: place for place, family in reversed(list(enumerate(family_of)))}
    first |= {family: place for place, family in reversed(list(enumerate(family_of))) if use[place]}
    folds = min(folds, len(first))
    by_place = _deal(random.permutation(len(topics)), use, folds)
    fold_of = {family: by_place[place] for family, place in first.items()}
    useful_families = {
        family for family, is_useful in zip(family_of, use, strict=True) if is_useful
    }
    if (
        len(set(fold_of.values())) < folds  # many topics of few families
        or len({fold_of[family] for family in useful_families}) < min(folds, len(useful_families))
    ):
        use = [family in useful_families for family in first]
        fold_of = dict(zip(first, _deal(random.permutation(len(first)), use, folds), strict=True))
    fold_of_topic = [fold_of[family] for family in family_of]
    return [
        Split(
            tuple(t for t, other in zip(topics, fold_of_topic, strict=True) if other != fold),
            tuple(t for t, other in zip(topics, fold_of_topic, strict=True) if other == fold),
        )
        for fold in range(folds)
    ]


def _deal(order: npt.NDArray[np.int64], useful: Sequence[bool], folds: int) -> list[int]:
    """Deal places out to folds in an order, but useful ones first; return the fold of each."""
    order = order[np.argsort(~np.asarray(useful, dtype=bool)[order], kind="stable")]
    fold_of = np.empty(len(order), dtype=np.int64)
    fold_of[order] = np.arange(len(order)) % max(folds, 1)
    per_place: list[int] = fold_of.tolist()
    return per_place
