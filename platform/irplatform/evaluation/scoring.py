"""Scores of a run against judgments, by the measures of ir-measures, of plugins, and our own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING

from irplatform.evaluation.gain import has_levels, ndcg
from irplatform.evaluation.graded import Graded
from irplatform.evaluation.grades import refuse_grades, takes_whole, thresholds
from irplatform.evaluation.inferred import infer, topics_of
from irplatform.evaluation.measures import Inferred, Measure, MeasureFunction, parse_measures
from irplatform.evaluation.standard_measures import CURRENT, standard_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.collections.collection import Qrels
    from irplatform.evaluation.sampled_qrels import SampledQrels
    from irplatform.runs.run import Run

PerTopic = Mapping[str, float]
"""Topic id to value."""


@dataclass(frozen=True)
class Evaluation:
    """What a run scored.

    Attributes:
        aggregate: measure name to its mean over all judged topics (the sum for counts like
            `NumRel`).
        per_topic: measure name to the values of all judged topics, in the order of the judgments;
            measures of sampled judgments have no values for topics without results.
        missing: topics without results that are judged for one of the measures. Those with ordinary
            judgments count as 0; measures of sampled judgments leave theirs out of the mean.
        unjudged: topics with results but without judgments; they do not count.
        unsampled: topics with results and with ordinary judgments alone, where a measure takes
            sampled ones; they do not count for that.
        without_relevant: judged topics without a relevant document; they count as all others do.
            They are those of the sampled judgments where all measures take these.
        sampled: topics with sampled judgments, where there are some.
        deepest: how many documents the longest ranking has.
    """

    aggregate: Mapping[str, float]
    per_topic: Mapping[str, PerTopic] = field(repr=False)
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    unsampled: tuple[str, ...] = ()
    without_relevant: tuple[str, ...] = ()
    sampled: tuple[str, ...] = field(default=(), repr=False)
    deepest: int = 0

    def __str__(self) -> str:
        """The means in a line."""
        return ", ".join(f"{measure} {value:.4f}" for measure, value in self.aggregate.items())


def evaluate(
    qrels: Qrels,
    run: Run,
    measures: Sequence[str],
    *,
    extra: Mapping[str, MeasureFunction] | None = None,
    sampled: SampledQrels | None = None,
    trec_eval: int = CURRENT,
) -> Evaluation:
    """Score a run.

    Args:
        qrels: the judgments. Every topic with at least one judgment counts, even if nothing is
            relevant to it. Negative grades are trec_eval's: no gain, and not judged to measures
            that ask (`Bpref`, `infAP`); `Judged` counts them, as ir-measures does. Grades may have
            decimals: see `grades`.
        run: the results.
        measures: names, see `parse_measures`.
        extra: measures of plugins by name.
        sampled: sampled judgments, for infNDCG and infAP.
        trec_eval: the release to agree with. 9 (and pytrec_eval) reads scores in 32 bits, but the
            program for sampled judgments always reads 64.

    Returns:
        Values under the measures' one right names, in the order given.

    Raises:
        InputError: see `parse_measures` and `refuse_grades`.
        PlatformError: a package behind ir-measures fails.
        PluginError: a plugin's measure fails, or gives no finite number for a judged topic.
    """
    parsed = parse_measures(measures, extra, sampled=sampled is not None)
    judged = {t: g if isinstance(g, dict) else dict(g) for t, g in qrels.items() if g}
    retrieved = {topic: ranking for topic, ranking in run.rankings.items() if len(ranking)}
    plugin_names = {name for name in parsed if name in (extra or {})}
    inferred = {name: m for name, m in parsed.items() if isinstance(m, Inferred)}
    graded = {name: m for name, m in parsed.items() if isinstance(m, Graded)}
    others = plugin_names | inferred.keys() | graded.keys()
    standard = {name: m for name, m in parsed.items() if name not in others}
    refuse_grades(standard, judged)
    results = run.in_32_bits() if trec_eval < CURRENT else run
    whole: Qrels = judged
    if has_levels(judged.values()):
        whole = thresholds(judged)
        for name in [n for n, m in standard.items() if m.NAME == "nDCG" and not takes_whole(m)]:
            graded[name] = Graded(ndcg, standard.pop(name).params.get("cutoff"))
    by_topic = standard_values(whole, results, standard, trec_eval)
    by_topic |= {name: measure.values(judged, results) for name, measure in graded.items()}
    for name in plugin_names:
        # A copy: a plugin may change it.
        plugin_qrels = {topic: dict(grades) for topic, grades in judged.items()}
        by_topic[name] = parsed[name](plugin_qrels, results)
    pools = sampled or {}
    per_topic: dict[str, PerTopic] = {
        name: infer(inferred[name].estimate, pools, run, inferred[name].depth)
        if name in inferred
        else {topic: by_topic[name][topic] for topic in judged}
        for name in parsed
    }
    aggregate = {name: _aggregate(standard.get(name), values) for name, values in per_topic.items()}
    pooled = topics_of(pools)
    ordinary = len(inferred) < len(parsed)
    scored = dict.fromkeys([*(judged if ordinary else ()), *(pooled if inferred else ())])
    if ordinary:
        best = {topic: max(grades.values()) for topic, grades in judged.items()}
    else:
        best = {topic: int(pools[topic].grades.max()) for topic in pooled}
    return Evaluation(
        aggregate,
        per_topic,
        missing=tuple(topic for topic in scored if topic not in retrieved),
        unjudged=tuple(topic for topic in retrieved if topic not in judged),
        unsampled=tuple(
            topic for topic in retrieved if inferred and topic in judged and topic not in pooled
        ),
        without_relevant=tuple(topic for topic, grade in best.items() if grade <= 0),
        sampled=pooled,
        deepest=max(map(len, run.rankings.values()), default=0),
    )


def mean_evaluation(evaluations: Sequence[Evaluation]) -> Evaluation:
    """The mean of several evaluations by the same judgments, topic by topic.

    Args:
        evaluations: at least one. A topic that some have no value for (of sampled judgments, where
            a run has no results) gets the mean of the others.
    """
    first = evaluations[0]
    if len(evaluations) == 1:
        return first
    per_topic: dict[str, PerTopic] = {}
    for measure in first.per_topic:
        per_run = [evaluation.per_topic[measure] for evaluation in evaluations]
        topics = dict.fromkeys(topic for values in per_run for topic in values)
        per_topic[measure] = {
            topic: fmean(values[topic] for values in per_run if topic in values) for topic in topics
        }
    aggregate = {m: fmean(e.aggregate[m] for e in evaluations) for m in first.aggregate}
    return replace(first, aggregate=aggregate, per_topic=per_topic)


def _aggregate(measure: Measure | None, values: PerTopic) -> float:
    if measure is None:
        return math.fsum(values.values()) / len(values) if values else 0.0
    aggregator = measure.aggregator()
    # By id, as trec_eval adds: a mean between two printed digits falls to one by the sum's order.
    for topic in sorted(values):
        aggregator.add(values[topic])
    return float(aggregator.result())
