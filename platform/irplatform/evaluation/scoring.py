"""Scores of a run against judgments, by the measures of ir-measures, of plugins, and our own.

Values agree with trec_eval 10. Each measure knows how it is computed; those that are left to the
packages behind ir-measures are computed together.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING

from irplatform.evaluation.kinds import CURRENT, Scored, Standard
from irplatform.evaluation.known_values import (
    KnownValues,
    is_large,
    judgments_digest,
    run_digest,
)
from irplatform.evaluation.measure_names import parse_measures, refuse_grades
from irplatform.evaluation.packages import values_of_packages
from irplatform.evaluation.sampled import topics_of
from irplatform.files.costs import Work, measured
from irplatform.system.console import progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.data import Qrels
    from irplatform.evaluation.judgments import Judgments
    from irplatform.evaluation.kinds import Measure, MeasureFunction, PerTopic
    from irplatform.evaluation.sampled import SampledQrels
    from irplatform.runs.run import Run


@dataclass(frozen=True)
class Evaluation:
    """Scores of a run.

    Attributes:
        aggregate: measure name to its mean over all judged topics (the sum for counts like
            `NumRel`).
        per_topic: measure name to the values of all judged topics, in the order of the judgments;
            measures of sampled judgments have no values for topics without results.
        missing: judged topics without results. With ordinary judgments they count as 0; measures of
            sampled judgments leave them out of the mean.
        unjudged: topics with results but without judgments; they do not count.
        unsampled: topics with results and ordinary judgments only, if a measure takes sampled ones.
        without_relevant: judged topics without a relevant document; they count like all others.
        sampled: topics with sampled judgments.
        lengths: topic id to the number of results, 0 included.
    """

    aggregate: Mapping[str, float]
    per_topic: Mapping[str, PerTopic] = field(repr=False)
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    unsampled: tuple[str, ...] = ()
    without_relevant: tuple[str, ...] = ()
    sampled: tuple[str, ...] = field(default=(), repr=False)
    lengths: Mapping[str, int] = field(default_factory=dict, repr=False)

    @property
    def deepest(self) -> int:
        """The length of the longest ranking."""
        return max(self.lengths.values(), default=0)

    def __str__(self) -> str:
        return ", ".join(f"{measure} {value:.4f}" for measure, value in self.aggregate.items())


def evaluate(
    qrels: Qrels,
    run: Run,
    measures: Sequence[str],
    *,
    extra: Mapping[str, MeasureFunction] | None = None,
    sampled: SampledQrels | None = None,
    trec_eval: int = CURRENT,
    known: KnownValues | None = None,
) -> Evaluation:
    """Score a run.

    Args:
        qrels: the judgments. Every topic with a judgment counts, even if nothing is relevant to it.
            Negative grades have trec_eval's meaning: no gain, and not judged for `Bpref` and
            `infAP`.
        run: the results.
        measures: names, see `parse_measures`.
        extra: measures of plugins by name.
        sampled: sampled judgments, for infNDCG and infAP.
        trec_eval: the release to agree with. 9 (and pytrec_eval) reads scores in 32 bits.
        known: values of the same run and judgments; what it lacks is computed and added.

    Returns:
        Values under the measures' right names, in the order given.

    Raises:
        InputError: see `parse_measures` and `refuse_grades`.
        PlatformError: a package behind ir-measures fails.
        PluginError: a plugin's measure fails, or gives no finite number for a judged topic.
    """
    parsed_measures = parse_measures(measures, extra, sampled=sampled is not None)
    judged = {t: g if isinstance(g, dict) else dict(g) for t, g in qrels.items() if g}
    refuse_grades(parsed_measures, judged)
    scored = Scored(judged, run, sampled or {}, trec_eval)
    if scored.has_levels:
        parsed_measures = {name: measure.for_levels() for name, measure in parsed_measures.items()}
    cached_names = parsed_measures.keys() - (extra or {}).keys() if known else set()
    values = known.of(cached_names) if known else {}
    if open_measures := {name: of for name, of in parsed_measures.items() if name not in values}:
        results = sum(known.lengths.values()) if known else 0
        with measured(Work("score", amount=results * len(open_measures)) if known else None):
            computed = _values(open_measures, scored)
        values |= computed
        if known:
            known.add({name: of for name, of in computed.items() if name in cached_names})
    order = dict.fromkeys([*judged, *scored.sampled])
    per_topic = {
        name: {topic: values[name][topic] for topic in order if topic in values[name]}
        for name in parsed_measures
    }
    aggregate = {name: measure.mean(per_topic[name]) for name, measure in parsed_measures.items()}
    lengths = known.lengths if known else {t: len(r) for t, r in run.rankings.items()}
    retrieved = [topic for topic, length in lengths.items() if length]
    inferred = any(measure.is_sampled for measure in parsed_measures.values())
    ordinary = any(not measure.is_sampled for measure in parsed_measures.values())
    pooled = topics_of(scored.sampled)
    topics = dict.fromkeys([*(judged if ordinary else ()), *(pooled if inferred else ())])
    if ordinary:
        best = {topic: max(grades.values()) for topic, grades in judged.items()}
    else:
        best = {topic: int(scored.sampled[topic].grades.max()) for topic in pooled}
    return Evaluation(
        aggregate,
        per_topic,
        missing=tuple(topic for topic in topics if not lengths.get(topic)),
        unjudged=tuple(topic for topic in retrieved if topic not in judged),
        unsampled=tuple(
            topic for topic in retrieved if inferred and topic in judged and topic not in pooled
        ),
        without_relevant=tuple(topic for topic, grade in best.items() if grade <= 0),
        sampled=pooled,
        lengths=lengths,
    )


def evaluation_of(
    judgments: Judgments,
    run: Run,
    measures: Sequence[str],
    extra: Mapping[str, MeasureFunction] | None,
) -> Evaluation:
    """Score a run by a collection's judgments, with what is known of a large one."""
    values = None
    if is_large(run) and judgments.sampled is None:
        lengths = {topic: len(ranking) for topic, ranking in run.rankings.items()}
        values = KnownValues(run_digest(run), judgments_digest(judgments.qrels), lengths)
    return evaluate(
        judgments.qrels, run, measures, extra=extra, sampled=judgments.sampled, known=values
    )


def evaluations_of(
    judgments: Judgments,
    runs: Mapping[str, Run],
    measures: Sequence[str],
    extra: Mapping[str, MeasureFunction] | None,
    label: str = "scoring",
) -> dict[str, Evaluation]:
    """Score runs by their names, as `evaluation_of`; the label says what is done of so many."""
    evaluations = {}
    with progress(label, len(runs), "runs") as advance:
        for name, run in runs.items():
            evaluations[name] = evaluation_of(judgments, run, measures, extra)
            advance(1)
    return evaluations


def _values(measures: Mapping[str, Measure], scored: Scored) -> dict[str, PerTopic]:
    """Compute measures; those of packages together, in as few passes as is safe."""
    packaged = {
        name: measure
        for name, measure in measures.items()
        if isinstance(measure, Standard) and not measure.is_computed_here(scored.trec_eval)
    }
    values: dict[str, PerTopic] = {
        name: measure.values(scored) for name, measure in measures.items() if name not in packaged
    }
    return values | values_of_packages(packaged, scored) if packaged else values


def mean_evaluation(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Average evaluations by the same judgments, topic by topic.

    A topic without a value in some of them gets the mean of the others.
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
