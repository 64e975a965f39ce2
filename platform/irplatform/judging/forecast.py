"""What a pool costs to judge, and what it can decide: said before it is written.

A judge's minutes, and without judgments the spread of differences over topics, are assumptions, and
are called so.
"""

from __future__ import annotations

from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.comparison.power import power_of
from irplatform.errors import counted, enumeration
from irplatform.evaluation.scoring import evaluate
from irplatform.judging.pool_settings import STRATIFIED
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.judging.pool_methods.candidates import Candidates, Grades
    from irplatform.judging.pool_methods.fixed import Choice
    from irplatform.judging.pool_settings import PoolSettings
    from irplatform.runs.run import Run

MEASURE = "nDCG@20"
SMALL = 0.02
"""A difference that papers report, for which the needed topics are said."""
_DEPTHS = (10, 20)


def forecast(
    topics: Sequence[Candidates],
    choices: Sequence[Choice],
    runs: Mapping[str, Run],
    judged: Grades,
    settings: PoolSettings,
) -> dict[str, Any]:
    """Return figures of a pool: documents, minutes, judged shares, detectable differences."""
    counts = [int(choice.drawn.sum()) for choice in choices]
    drawn = [count for count in counts if count]
    rounds = "batch" in settings.deciding
    documents = min(settings.budget or 0, sum(map(len, topics))) if rounds else sum(drawn)
    facts: dict[str, Any] = {
        "documents": documents,
        "placed": sum(drawn),
        "pooled": sum(len(choice.rows) for choice in choices),
        "topics": len(drawn),
        "per_topic": [min(drawn, default=0), median(drawn or [0]), max(drawn, default=0)],
        "judged_before": sum(int(topic.judged.sum()) for topic in topics),
        "minutes": documents / settings.rate,
    }
    if not rounds and settings.method != STRATIFIED:
        depths = sorted({settings.ranks, *(k for k in _DEPTHS if k < settings.ranks)})
        facts["judged_at"] = {k: _judged_at(k, topics, choices) for k in depths}
    measured = _deviation(runs, judged)
    deviation = settings.deviation if measured is None else measured
    counting = zip(counts, topics, strict=True)
    number = sum(bool(rounds or count or topic.judged.any()) for count, topic in counting)
    power = power_of(SMALL, deviation, number)
    facts["power"] = {
        "measure": MEASURE,
        "topics": number,
        "deviation": deviation,
        "assumed": measured is None,
        "detectable": power and power.detectable,
        "topics_for_small": power and power.topics,
    }
    return facts


def _judged_at(
    depth: int, topics: Sequence[Candidates], choices: Sequence[Choice]
) -> tuple[float, float]:
    """The least and the largest share of a run's first documents that will be judged."""
    known = np.zeros(len(topics[0].ranks))
    all_of_them = known.copy()
    for topic, choice in zip(topics, choices, strict=True):
        judged = topic.judged.copy()
        judged[choice.rows[choice.drawn]] = True
        first = (topic.ranks > 0) & (topic.ranks <= depth)
        known += (first & judged).sum(axis=1)
        all_of_them += first.sum(axis=1)
    shares = known / np.maximum(all_of_them, 1)
    return float(shares.min()), float(shares.max())


def _deviation(runs: Mapping[str, Run], judged: Grades) -> float | None:
    """The median deviation of differences over judged topics of all pairs of runs."""
    grades = {t: {d: g for d, g in each.items() if g is not None} for t, each in judged.items()}
    qrels = {topic: each for topic, each in grades.items() if any(g > 0 for g in each.values())}
    if len(runs) < 2 or len(qrels) < 2:
        return None
    values = []
    for run in runs.values():
        scores = evaluate(qrels, run.top(20), [MEASURE]).per_topic[MEASURE]
        values.append(np.array([scores[topic] for topic in qrels]))
    found = [float(np.std(one - other, ddof=1)) for one, other in combinations(values, 2)]
    return median(found) or None


def in_words(facts: Mapping[str, Any], settings: PoolSettings, runs: int) -> list[str]:
    """Return the figures in plain sentences."""
    low, middle, high = facts["per_topic"]
    spread = (
        f"{low:,} to {high:,} a topic (median {middle:g})" if low < high else f"{low:,} a topic"
    )
    chosen = ", ".join(f"{name} {value}" for name, value in settings.deciding.items())
    told = [f"{settings.method} ({chosen}) of {counted(runs, 'run')}"]
    if facts["documents"] > facts["placed"]:
        told[0] += f": {counted(facts['documents'], 'document')} to judge in rounds."
        told.append(f"The first round has {facts['placed']:,}, {spread}.")
    else:
        of = f"{counted(facts['documents'], 'document')} of {counted(facts['topics'], 'topic')}"
        told[0] += f": {of} to judge, {spread}."
    if facts["pooled"] > facts["placed"]:
        told.append(f"They stand for {facts['pooled']:,} that are pooled.")
    if facts["judged_before"]:
        told.append(f"{counted(facts['judged_before'], 'document')} more are judged already.")
    hours, minutes = divmod(round(facts["minutes"]), 60)
    time = f"{counted(hours, 'hour')} {minutes:02} min" if hours else f"{minutes} min"
    told.append(f"At {settings.rate:g} a minute, an assumption ({option('rate')}): {time}.")
    if shares := facts.get("judged_at"):
        ends = {k: " to ".join({f"{share:.0%}": 0 for share in span}) for k, span in shares.items()}
        parts = [f"{span} of the first {k}" for k, span in ends.items()]
        told.append(f"Of a run's documents, {enumeration(parts)} will be judged.")
    return [*told, _decides(facts["power"])]


def _decides(power: Mapping[str, Any]) -> str:
    topics = counted(power["topics"], "topic")
    if power["detectable"] is None:
        return f"{topics} cannot show a difference of runs."
    source = f"an assumption ({option('deviation')})" if power["assumed"] else "as judged so far"
    needed = power["topics_for_small"]
    more = f"; one of {SMALL:g} would take {needed:,} topics" if needed else ""
    return (
        f"With {topics} a true difference of {power['detectable']:.3f} in {MEASURE} is found four "
        f"times in five, if differences vary by {power['deviation']:.3f} between topics, {source}"
        f"{more}."
    )
