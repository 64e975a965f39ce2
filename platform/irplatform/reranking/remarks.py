"""All that the reader of a reranker's scores must know of how it was trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.reranking.changed_since import warning_of_code, warning_of_surroundings
from irplatform.reranking.evaluated_topics import (
    warning_of_learned,
    warning_of_pairs,
    warning_of_scores_read,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import Topic
    from irplatform.reranking.systems import RerankerChoice
    from irplatform.reranking.training_set import TrainingSource


def warnings_of(
    choice: RerankerChoice,
    topics: Sequence[Topic],
    training_source: TrainingSource,
    interpolate: float | None,
) -> tuple[str, ...]:
    """The warnings of a reranker for some topics, whoever asks for its scores.

    Args:
        choice: the reranker.
        topics: those that it scores.
        training_source: what it learned from.
        interpolate: the first stage's share, where the user gave it.
    """
    warnings = (
        warning_of_code(choice, training_source),
        warning_of_surroundings(choice, training_source),
        warning_of_learned(choice, topics, training_source, interpolate),
        warning_of_pairs(choice, topics, training_source),
        warning_of_scores_read(choice, topics),
    )
    return tuple(warning for warning in warnings if warning)
