"""Scores of a run against judgments, by the measures of ir-measures, of plugins, and our own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import compress, islice
from statistics import fmean
from typing import TYPE_CHECKING

from irplatform.errors import PlatformError
from irplatform.evaluation.availability import DIVERSITY, refuse_grades, takes_whole, thresholds
from irplatform.evaluation.graded import Graded
from irplatform.evaluation.measures import Inferred, Measure, MeasureFunction, parse_measures
from irplatform.evaluation.ndcg import has_levels, ndcg
from irplatform.evaluation.qrels import subtopics_of
from irplatform.evaluation.sampled import infer, topics_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ir_measures import GenericQrel

    from irplatform.data import Qrels
    from irplatform.evaluation.sampled import SampledQrels
    from irplatform.runs.run import Run


# Values of ir-measures' measures for a run, in trec_eval's order of ties: those of trec_eval 10.
#
# ir-measures hands each measure to one of several packages, and they order tied documents each in
# their own way (trec_eval by decreasing id, others by increasing id or as they come). The order of
# a `Run` is decided already, so the packages are given its ranks as scores, which leaves no ties.
#
# Two measures are computed here. Accuracy fails in ir-measures at the first topic that retrieves
# relevant documents and no others. IPrec has other cutoffs in trec_eval 10 than in release 9, and
# pytrec_eval contains that.

CURRENT = 10
"""The release of trec_eval that figures agree with."""
_NO_DOCUMENT = "irplatform:no-such-document"
_UNJUDGED = "~irp"
"""How the names of unjudged documents begin; with a rank it is short enough to be cheap."""


def standard_values(
    judged: Qrels, run: Run, measures: Mapping[str, Measure], trec_eval: int = CURRENT
) -> dict[str, dict[str, float]]:
    """Compute ir-measures' measures, in as few passes as is safe.

    Args:
        judged: topic to document to whole grade; every topic has some.
        run: the results.
        measures: by the names that ir-measures gives them.
        trec_eval: the release to agree with; pytrec_eval's is 9.

    Returns:
        Measure name to the values of all judged topics.
    """
    # By number, since one of its packages (gdeval, for ERR) reads no other names of topics.
    numbers = {topic: str(number) for number, topic in enumerate(judged, start=1)}
    by_number: dict[str, dict[str, float]] = {name: {} for name in measures}
    qrels = {numbers[topic]: _safe(grades) for topic, grades in judged.items()}
    results = _ranks_as_scores(run, judged, numbers)
    compute = {"Accuracy": accuracy, "IPrec": interpolated_precision}
    if trec_eval < CURRENT:
        del compute["IPrec"]
    ours = {name: measure for name, measure in measures.items() if measure.NAME in compute}
    for name, measure in ours.items():
        by_number[name] = {
            number: compute[measure.NAME](measure, judged[topic], run.rankings[topic].doc_ids)
            for topic, number in numbers.items()
            if number in results
        }
    diverse = {name: measure for name, measure in measures.items() if measure.NAME in DIVERSITY}
    others = {n: m for n, m in measures.items() if n not in ours and n not in diverse}
    for part, judgments in ((others, qrels), (diverse, _of_subtopics(judged, numbers))):
        for group in _groups(part):
            try:
                _compute(group, judgments, results, by_number)
            except PlatformError:
                for measure in group:  # which one it is
                    _compute([measure], judgments, results, by_number)
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


def accuracy(measure: Measure, grades: Mapping[str, float], doc_ids: Sequence[str]) -> float:
    """The share of the pairs of a relevant and another retrieved document in the right order.

    It is 0 where nothing relevant is retrieved, and 1 where nothing else is. Documents without a
    grade are not relevant.
    """
    relevant = others = wrong = 0
    for doc_id in doc_ids[: measure.params.get("cutoff")]:
        if grades.get(doc_id, 0) >= measure["rel"]:
            relevant += 1
            wrong += others
        else:
            others += 1
    if not relevant:
        return 0.0
    return 1 - wrong / (relevant * others) if others else 1.0


def interpolated_precision(
    measure: Measure, grades: Mapping[str, float], doc_ids: Sequence[str]
) -> float:
    """The highest precision at a recall or any higher one, as trec_eval 10 computes it.

    The recall is the number of relevant documents nearest to its share of them (`lround`); release
    9 took the next whole number, nearly always. Where too few are retrieved, it is 0.
    """
    if measure["judged_only"]:
        doc_ids = [doc_id for doc_id in doc_ids if grades.get(doc_id, -1) >= 0]
    share = measure["recall"] * sum(grade >= measure["rel"] for grade in grades.values())
    found, best = 0, 0.0
    least = math.floor(share) + (share % 1 >= 0.5)
    for rank, doc_id in enumerate(doc_ids, start=1):
        if grades.get(doc_id, 0) >= measure["rel"]:
            found += 1
            if found >= least:
                best = max(best, found / rank)
    return best


def _without_results(measure: Measure, grades: Mapping[str, float]) -> float:
    """The value of a topic that a run finds nothing for.

    It is 0 but for counts of the judgments themselves, which are those of `trec_eval -c`.
    """
    if measure.NAME == "NumQ":
        return 1.0
    if measure.NAME == "NumRel":
        return float(sum(grade > 0 for grade in grades.values()))
    return float(measure.DEFAULT)


def _of_subtopics(judged: Qrels, numbers: Mapping[str, str]) -> list[GenericQrel]:
    """Judgments of subtopics as ir-measures takes them, by the topics' numbers."""
    from ir_measures import GenericQrel

    return [
        GenericQrel(numbers[topic], document, grade, subtopic)
        for topic, subtopics in subtopics_of(judged).items()
        for subtopic, grades in subtopics.items()
        for document, grade in grades.items()
    ]


def _compute(
    group: Sequence[Measure],
    qrels: Qrels | Sequence[GenericQrel],
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
            # nNRBP divides 0 by 0 where nothing is relevant
            values[metric.query_id] = 0.0 if math.isnan(metric.value) else float(metric.value)
    except Exception as error:  # whatever a package of somebody else's raises
        names = ", ".join(map(str, group))
        raise PlatformError(
            f"ir-measures fails to compute {names}: {type(error).__name__}: {error}"
        ) from error


def _safe(grades: Mapping[str, float]) -> Mapping[str, float]:
    """Judgments that trec_eval's code survives.

    It writes outside its memory (a crash, or a loop without end) where all grades of a topic are
    negative. One more document that is not relevant and that no run retrieves changes no value of
    such a topic: nothing is relevant to it.
    """
    return grades if any(g >= 0 for g in grades.values()) else {**grades, _NO_DOCUMENT: 0}


def _ranks_as_scores(
    run: Run, judged: Qrels, numbers: Mapping[str, str]
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
