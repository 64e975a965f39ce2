"""What a reader of scores must know: topics without results or judgments, rankings cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import counted, listing
from irplatform.evaluation.inferred import is_inferred
from irplatform.evaluation.measures import beyond

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.evaluation.scoring import Evaluation

_SHOWN = 10


def without_results(evaluation: Evaluation) -> str:
    """A notice of judged topics that a run has nothing for, of which there is one at least."""
    groups: dict[str, list[str]] = {}
    for topic in evaluation.missing:
        groups.setdefault(_counted(evaluation, topic), []).append(topic)
    return "; ".join(
        f"{_topics(topics)} with no results ({explanation}): {listing(topics, _SHOWN)}"
        for explanation, topics in groups.items()
    )


def without_judgments(evaluation: Evaluation) -> list[str]:
    """Notices of topics with results that lack judgments, ordinary or sampled; perhaps none."""
    sampled = {m: values for m, values in evaluation.per_topic.items() if is_inferred(m)}
    sampled_topics = {topic for values in sampled.values() for topic in values}
    names = " and ".join(sampled)
    groups = (
        (
            [topic for topic in evaluation.unjudged if topic not in sampled_topics],
            "with results but no judgments (they do not count)",
        ),
        (
            [topic for topic in evaluation.unjudged if topic in sampled_topics],
            f"with sampled judgments alone (they count for {names} alone)",
        ),
        (evaluation.unsampled, f"without sampled judgments (they do not count for {names})"),
    )
    return [
        f"{_topics(topics)} {what}: {listing(topics, _SHOWN)}" for topics, what in groups if topics
    ]


def without_relevant(evaluation: Evaluation) -> str:
    """A notice of topics without a relevant document, or ""."""
    if not (topics := evaluation.without_relevant):
        return ""
    heading = f"{_topics(topics)} without a relevant document, where no run can find one"
    return f"{heading} (they count): {listing(topics, _SHOWN)}"


def cut_short(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """Notices of measures that look deeper than a run's rankings go; perhaps none."""
    names: dict[tuple[str, int], list[str]] = {}
    for name, evaluation in evaluations.items():
        if measures := beyond(evaluation.aggregate, evaluation.deepest):
            names.setdefault((listing(measures), evaluation.deepest), []).append(name)
    return [
        f"{measures}: no ranking of {listing(runs)} has more than {counted(deepest, 'document')}"
        for (measures, deepest), runs in names.items()
    ]


def _counted(evaluation: Evaluation, topic: str) -> str:
    """What a topic without results, and others like it, mean to the means of an evaluation."""
    values = evaluation.per_topic
    # ir-measures' infAP, which takes ordinary judgments, counts them.
    left_out = [m for m in values if is_inferred(m) and topic in evaluation.sampled]
    if not left_out:
        return "they count as 0"
    explanation = f"left out of the mean of {' and '.join(left_out)}, as in TREC's own program"
    # One with sampled judgments alone has no value by other measures.
    if not any(topic in values[measure] for measure in values.keys() - set(left_out)):
        return f"they are {explanation}; tests between runs count them as 0"
    return f"they count as 0, but are {explanation}"


def _topics(topics: Sequence[str]) -> str:
    return counted(len(topics), "topic")
