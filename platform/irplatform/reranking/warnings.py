"""Warnings: evaluated topics were learned from, or a checkpoint is of other code or knowledge.

Topics are known by their words (`topic_marks`): another collection may have them under other ids. A
function returns "" if there is no warning.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from irplatform.errors import listing
from irplatform.training.checkpoints import Checkpoint
from irplatform.training.topic_identity import APART, query_mark, source_mark, sources, topic_marks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.data import Topic
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.reranking.training_set import LearningPlan


def warning_of_learned(
    choice: ChosenReranker, topics: Sequence[Topic], learning: LearningPlan
) -> str:
    """Warn of a reranker that learns from topics that it is evaluated on."""
    if checkpoint := learning.checkpoint_of(choice):
        overlap = _topics_in_words(checkpoint.learned(topics), topics)
    else:
        learns = choice.trainable or learning.interpolate is None
        sources = [learning.training_set] if learns else []
        if choice.trainable:
            sources.append(learning.pretraining_of(choice))
        learned_on = [topic for source in sources if source for topic in source.topics]
        overlap = _chosen_on(topics, learned_on)
    if not overlap:
        return ""
    if not choice.trainable:
        return f"WARNING: the first stage's share in {choice.name} was chosen on {overlap}."
    return f"WARNING: {choice.name} was trained on {overlap}: its scores show what it remembers."


def warning_of_pairs(
    choice: ChosenReranker, topics: Sequence[Topic], learning: LearningPlan
) -> str:
    """Warn of pairs of texts to learn from that ask what evaluated topics ask.

    In cross-validation, pairs of evaluated topics are left out; a checkpoint knows its queries.
    """
    training_set = learning.training_set
    if not choice.trainable or training_set is None or learning.checkpoint is not None:
        return ""
    pairs = choice.pairs_learned([*training_set.topics, *training_set.held_out])
    marks = {query_mark(pair.query) for pair in pairs}
    of = {source_mark(pair.group) for pair in pairs}
    known_topics = [
        topic
        for topic in topics
        if topic_marks(topic) & marks or any(source in of for _, source in sources(topic))
    ]
    overlap = _topics_in_words(known_topics, topics)
    return overlap and (
        f"WARNING: {choice.name} learns from pairs of texts that are of {overlap}, or of the same "
        f"source ({APART}): its scores show what it remembers."
    )


def warning_of_scores_read(choice: ChosenReranker, topics: Sequence[Topic]) -> str:
    """Warn of a reranker that reads scores of models that learned from evaluated topics."""
    checkpoints = [Checkpoint.read(folder) for folder in choice.checkpoints()]
    overlap = _topics_in_words(
        [t for t in topics if any(c.learned([t]) for c in checkpoints)], topics
    )
    return overlap and (
        f"WARNING: {choice.name} reads scores of a checkpoint that was trained on {overlap}: these "
        "show what it remembers."
    )


def warning_of_fusion(topics: Sequence[Topic], learned_on: Sequence[Topic]) -> str:
    """Warn of retrievers that are fused with weights chosen on evaluated topics."""
    overlap = _chosen_on(topics, learned_on)
    return overlap and f"WARNING: the weights of the fused retrievers were chosen on {overlap}."


def warning_of_tuning(topics: Sequence[Topic], tuned_on: Sequence[Topic]) -> str:
    """Warn of options that are chosen on topics of the collection that they are for."""
    overlap = _chosen_on(topics, tuned_on)
    return overlap and (
        f"WARNING: options are chosen on {overlap}, so that scores of these topics are no test."
    )


def _chosen_on(topics: Sequence[Topic], learned_on: Sequence[Topic]) -> str:
    marks = {mark for topic in learned_on for mark in topic_marks(topic)}
    return _topics_in_words([topic for topic in topics if topic_marks(topic) & marks], topics)


def _topics_in_words(subset: Sequence[Topic], topics: Sequence[Topic]) -> str:
    """The number of the topics, and their ids; "" for none."""
    if not subset:
        return ""
    return f"{len(subset):,} of these {len(topics):,} topics ({listing([t.id for t in subset])})"


def warning_of_code(choice: ChosenReranker, learning: LearningPlan) -> str:
    """Warn of a checkpoint that was trained by code other than the code that scores now."""
    if (checkpoint := learning.checkpoint_of(choice)) is None:
        return ""
    trained, now = checkpoint.description, choice.registration.code_facts
    changed = [name for name in ("version", "source") if trained.get(name) != now.get(name)]
    if not changed:
        return ""
    code = f"version {trained.get('version')}" if "version" in changed else "other source code"
    return (
        f"WARNING: {choice.name}'s checkpoint was trained by {code} of "
        f"{choice.registration.plugin}: its scores may differ from those of the code it was made "
        "with."
    )


def warning_of_surroundings(choice: ChosenReranker, learning: LearningPlan) -> str:
    """Warn of a checkpoint that was trained with other knowledge bases or files."""
    if (checkpoint := learning.checkpoint_of(choice)) is None:
        return ""
    trained = dict(checkpoint.description.get("of", {}))
    now = json.loads(json.dumps(choice.describe_reads()))
    groups = _changed(trained.pop("features", {}), now.pop("features", {}))
    changed = [*(f"feature group '{name}'" for name in groups), *_changed(trained, now)]
    if not changed:
        return ""
    return (
        f"WARNING: {choice.name} reads other things than its checkpoint was trained with: "
        f"{listing(changed)}. Was a package, a knowledge base or a model changed? Its scores may "
        "differ."
    )


def _changed(trained: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    return sorted(n for n in {*trained, *now} if trained.get(n) != now.get(n))


def warnings_of(
    choice: ChosenReranker, topics: Sequence[Topic], learning: LearningPlan
) -> tuple[str, ...]:
    """All warnings for the reader of a reranker's scores of some topics."""
    warnings = [warn(choice, learning) for warn in (warning_of_code, warning_of_surroundings)]
    warnings += [warn(choice, topics, learning) for warn in (warning_of_learned, warning_of_pairs)]
    return (*filter(None, [*warnings, warning_of_scores_read(choice, topics)]),)
