"""Scores of a run against judgments: ir-measures' numbers in trec_eval's order of ties.

ir-measures hands each measure to one of several packages, and they order tied documents each in
their own way (trec_eval by decreasing id, others by increasing id or as they come). The order of a
`Run` is decided already, so the packages are given its ranks as scores, which leaves no ties.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import compress, islice
from statistics import fmean
from typing import TYPE_CHECKING

from irplatform.errors import PlatformError
from irplatform.evaluation.accuracy import accuracy
from irplatform.evaluation.grades import refuse_grades
from irplatform.evaluation.inferred import infer, topics_of
from irplatform.evaluation.measures import Inferred, Measure, MeasureFunction, parse_measures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.collections.collection import Qrels
    from irplatform.evaluation.sampled_qrels import SampledQrels
    from irplatform.runs.run import Run

_NO_DOCUMENT = "irplatform:no-such-document"
_UNJUDGED = "~irp"
"""How the names of unjudged documents begin; with a rank it is short enough to be cheap."""

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
        missing: judged topics without results; they count, with 0, except for measures of sampled
            judgments.
        unjudged: topics with results but without judgments; they do not count.
        without_relevant: judged topics without a relevant document; they count as all others do.
        sampled: topics with sampled judgments, where there are some.
    """

    aggregate: Mapping[str, float]
    per_topic: Mapping[str, PerTopic]
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    without_relevant: tuple[str, ...] = ()
    sampled: tuple[str, ...] = ()


def evaluate(
    qrels: Qrels,
    run: Run,
    measures: Sequence[str],
    *,
    extra: Mapping[str, MeasureFunction] | None = None,
    sampled: SampledQrels | None = None,
    unrounded: Run | None = None,
) -> Evaluation:
    """Score a run.

    Args:
        qrels: the judgments. Every topic with at least one judgment counts, even if nothing is
            relevant to it. Negative grades are trec_eval's: no gain, and not judged to measures
            that ask (`Bpref`, `infAP`); `Judged` counts them, as ir-measures does.
        run: the results.
        measures: names, see `parse_measures`.
        extra: measures of plugins by name.
        sampled: sampled judgments, for infNDCG and infAP.
        unrounded: the results in the order of their 64-bit scores, where that differs: the program
            for sampled judgments reads such, trec_eval reads 32 bits.

    Returns:
        Values under the measures' one right names, in the order given.

    Raises:
        InputError: see `parse_measures` and `refuse_grades`.
        PlatformError: a package behind ir-measures fails.
        PluginError: a plugin's measure fails, or gives no finite number for a judged topic.
    """
    parsed = parse_measures(measures, extra, sampled=sampled is not None)
    judged = {t: g if type(g) is dict else dict(g) for t, g in qrels.items() if g}
    retrieved = {topic: ranking for topic, ranking in run.rankings.items() if len(ranking)}
    plugin_names = {name for name in parsed if name in (extra or {})}
    inferred = {name: m for name, m in parsed.items() if isinstance(m, Inferred)}
    others = plugin_names | inferred.keys()
    standard = {name: m for name, m in parsed.items() if name not in others}
    refuse_grades(standard, judged)
    by_topic = _standard(judged, run, standard)
    for name in plugin_names:
        # A copy: a plugin may change it.
        plugin_qrels = {topic: dict(grades) for topic, grades in judged.items()}
        by_topic[name] = parsed[name](plugin_qrels, run)
    per_topic: dict[str, PerTopic] = {
        name: infer(inferred[name].estimate, sampled or {}, unrounded or run, inferred[name].depth)
        if name in inferred
        else {topic: by_topic[name][topic] for topic in judged}
        for name in parsed
    }
    aggregate = {
        name: _aggregate(standard.get(name), list(values.values()))
        for name, values in per_topic.items()
    }
    return Evaluation(
        aggregate,
        per_topic,
        missing=tuple(topic for topic in judged if topic not in retrieved),
        unjudged=tuple(topic for topic in retrieved if topic not in judged),
        without_relevant=tuple(
            topic for topic, grades in judged.items() if max(grades.values()) <= 0
        ),
        sampled=topics_of(sampled or {}),
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


def _standard(
    judged: Mapping[str, Mapping[str, int]], run: Run, measures: Mapping[str, Measure]
) -> dict[str, dict[str, float]]:
    """Compute ir-measures' measures, in as few passes as is safe.

    Topics go by number there, since one of its packages (gdeval, for ERR) reads nothing else.
    """
    numbers = {topic: str(number) for number, topic in enumerate(judged, start=1)}
    by_number: dict[str, dict[str, float]] = {name: {} for name in measures}
    qrels = {numbers[topic]: _safe(grades) for topic, grades in judged.items()}
    results = _ranks_as_scores(run, judged, numbers)
    ours = {name: measure for name, measure in measures.items() if measure.NAME == "Accuracy"}
    for name, measure in ours.items():
        by_number[name] = {
            number: accuracy(measure, judged[topic], run.rankings[topic].doc_ids)
            for topic, number in numbers.items()
            if number in results
        }
    for group in _groups({name: m for name, m in measures.items() if name not in ours}):
        try:
            _compute(group, qrels, results, by_number)
        except PlatformError:
            for measure in group:  # which one it is
                _compute([measure], qrels, results, by_number)
            raise
    return {
        name: {
            topic: by_number[name].get(number, float(measure.DEFAULT))
            if number in results
            else _without_results(measure, judged[topic])
            for topic, number in numbers.items()
        }
        for name, measure in measures.items()
    }


def _without_results(measure: Measure, grades: Mapping[str, int]) -> float:
    """The value of a topic that a run finds nothing for.

    It is 0 but for counts of the judgments themselves, which are those of `trec_eval -c`.
    """
    if measure.NAME == "NumQ":
        return 1.0
    if measure.NAME == "NumRel":
        return float(sum(grade > 0 for grade in grades.values()))
    return float(measure.DEFAULT)


def _compute(
    group: Sequence[Measure],
    qrels: Mapping[str, Mapping[str, int]],
    results: Mapping[str, Mapping[str, float]],
    by_number: Mapping[str, dict[str, float]],
) -> None:
    """Let ir-measures compute measures, and note their values."""
    import ir_measures

    values_by_id: dict[int, dict[str, float]] = {}  # hashing or printing a measure takes its time
    alive: list[Measure] = []  # an object's id is its own as long as it lives
    try:
        for metric in ir_measures.evaluator(group, qrels).iter_calc(results):
            values = values_by_id.get(id(metric.measure))
            if values is None:
                alive.append(metric.measure)
                values = values_by_id[id(metric.measure)] = by_number[str(metric.measure)]
            values[metric.query_id] = float(metric.value)
    except Exception as error:  # whatever a package of somebody else's raises
        names = ", ".join(map(str, group))
        raise PlatformError(
            f"ir-measures fails to compute {names}: {type(error).__name__}: {error}"
        ) from error


def _safe(grades: Mapping[str, int]) -> Mapping[str, int]:
    """Judgments that trec_eval's code survives.

    It writes outside its memory (a crash, or a loop without end) where all grades of a topic are
    negative. One more document that is not relevant and that no run retrieves changes no value of
    such a topic: nothing is relevant to it.
    """
    return grades if any(g >= 0 for g in grades.values()) else {**grades, _NO_DOCUMENT: 0}


def _ranks_as_scores(
    run: Run, judged: Mapping[str, Mapping[str, int]], numbers: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Falling scores instead of the run's; documents that nobody judged go by their rank.

    No measure asks which they are, and copying their names from one table costs a fraction of
    looking at every name of every topic.
    """
    longest = max(map(len, run.rankings.values()), default=0)
    places = [f"{_UNJUDGED}{rank}" for rank in range(longest)]
    falling = [float(longest - rank) for rank in range(longest)]
    table = dict(zip(places, falling, strict=True))
    results = {}
    for topic, number in numbers.items():
        ranking = run.rankings.get(topic)
        if ranking is None or not len(ranking):
            continue
        is_judged = map(judged[topic].__contains__, ranking.doc_ids)
        whole = len(ranking) == longest
        scores = table.copy() if whole else dict(islice(table.items(), len(ranking)))
        results[number] = scores
        for rank in compress(range(len(ranking)), is_judged):
            scores[ranking.doc_ids[rank]] = scores.pop(places[rank])
    return results


def _groups(measures: Mapping[str, Measure]) -> list[list[Measure]]:
    """Part measures by their parameters, cutoffs aside.

    ir-measures 0.4 may compute a measure in the same pass as another with different parameters
    (`nDCG@20` on the gains of `nDCG(gains={…})@20`, say), depending on the order in which Python
    happens to hash them. In passes of their own they cannot meet.
    """
    groups: dict[str, list[Measure]] = {}
    for measure in measures.values():
        parameters = {
            key: value for key, value in measure.params.items() if key != measure.AT_PARAM
        }
        groups.setdefault(repr(sorted(parameters.items())), []).append(measure)
    return list(groups.values())


def _aggregate(measure: Measure | None, values: Sequence[float]) -> float:
    if measure is None:
        return math.fsum(values) / len(values) if values else 0.0
    aggregator = measure.aggregator()
    for value in values:
        aggregator.add(value)
    return float(aggregator.result())
