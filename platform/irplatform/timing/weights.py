"""Weights to time a model with: of a checkpoint in the cache, untrained, or briefly trained.

What a network costs does not depend on its weights. Trees are another matter: they have to be
learned before they can be timed, and trained on little they may be smaller. Groups of features that
a network reads have to be learned, too: which of them apply depends on the topics.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.console import notice
from irplatform.errors import InputError
from irplatform.plugin import LabelledTopic, TrainableReranker, TrainingData
from irplatform.training.checkpoints import cached_checkpoints, member_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.plugin import Reranker, Topic
    from irplatform.reranking.systems import RerankerChoice
    from irplatform.resources import CollectionResources

CHECKPOINT, UNTRAINED, BRIEFLY, NONE = "checkpoint", "untrained", "briefly trained", "none"
"""What weights a model is timed with."""
_BRIEF_TOPICS = 10
"""Topics that a model learns from where its untrained form cannot score."""


def ready(
    choice: RerankerChoice,
    topic_pools: Sequence[tuple[Topic, Sequence[str]]],
    resources: CollectionResources,
    judgments: Mapping[str, Mapping[str, float]],
) -> tuple[Reranker, str]:
    """A reranker that can score, and what weights it has.

    Args:
        choice: the reranker.
        topic_pools: topics with the ids of their documents.
        resources: the harness's resources.
        judgments: to train briefly with, where a model cannot score untrained.
    """
    member = choice.create(resources)
    if not isinstance(member, TrainableReranker):
        return member, NONE
    for folder in _checkpoints(choice, resources):
        with choice.registration.at_work("loading a checkpoint"):
            member.load(folder)
        return member, CHECKPOINT
    with tempfile.TemporaryDirectory() as scratch:
        try:
            with choice.registration.at_work("scoring untrained"):
                member.save(Path(scratch))  # what has no weights yet fails here, and learns below
                member.load(Path(scratch))
                member.score(topic_pools[0][0], resources.documents(topic_pools[0][1][:2]))
        except Exception:  # whatever a model raises that is asked before it learned
            notice(f"{choice.name} cannot score untrained: training it on a few topics")
        else:
            return member, UNTRAINED
    member = choice.create(resources)
    if not isinstance(member, TrainableReranker):
        raise InputError(f"reranker '{choice.name}' does not learn.")
    labelled = [_labelled(topic, ids, judgments.get(topic.id, {})) for topic, ids in topic_pools]
    half = max(1, min(_BRIEF_TOPICS, len(labelled)) // 2)
    with (
        tempfile.TemporaryDirectory() as workspace,
        choice.registration.at_work("learning"),
    ):
        member.fit(TrainingData(labelled[:half], labelled[half : 2 * half], Path(workspace)))
    return member, BRIEFLY


def _labelled(
    topic: Topic, doc_ids: Sequence[str], judgments: Mapping[str, float]
) -> LabelledTopic:
    """A topic to learn from; where nothing among its documents is relevant, the first one is."""
    grades = {d: grade for d, grade in judgments.items() if d in set(doc_ids)}
    if not any(grade > 0 for grade in grades.values()):
        grades[doc_ids[0]] = 1
    falling = tuple(float(-place) for place in range(len(doc_ids)))
    return LabelledTopic(topic, tuple(doc_ids), grades, falling)


def _checkpoints(choice: RerankerChoice, resources: CollectionResources) -> Iterator[Path]:
    """First members of checkpoints in the cache, of this reranker on these documents."""
    expected = choice.describe()
    for checkpoint in cached_checkpoints():
        description = checkpoint.description
        depends_on = description.get("depends_on", {})
        if (
            all(description.get(key) == value for key, value in expected.items())
            and depends_on.get("corpus") == resources.corpus.fingerprint
            and depends_on.get("vectors") == resources.source.describe()
        ):
            yield member_folder(checkpoint.folder, 0)
