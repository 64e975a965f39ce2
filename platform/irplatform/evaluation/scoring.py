"""Scores of a run against judgments, by the measures of ir-measures, of plugins, and our own.

ir-measures hands each measure to one of several packages, and each orders tied documents in its own
way. The order of a `Run` is decided already, so the packages get its ranks as scores, which have no
ties. Values agree with trec_eval 10. Some measures are computed here: Accuracy, which ir-measures
fails to compute for a topic that retrieves relevant documents only; IPrec, whose cutoffs changed
after the release 9 that pytrec_eval contains; and those of `users`, which stop there at rank 1,000.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import compress, islice
from statistics import fmean
from typing import TYPE_CHECKING

from irplatform.data import subtopics_of
from irplatform.errors import PlatformError
from irplatform.evaluation.hits import Hits, is_usual, values_of
from irplatform.evaluation.measures import (
    DIVERSITY,
    Inferred,
    Measure,
    MeasureFunction,
    parse_measures,
    refuse_grades,
    takes_whole,
    thresholds,
)
from irplatform.evaluation.ndcg import Graded, has_levels, ndcg
from irplatform.evaluation.sampled import infer, topics_of
from irplatform.evaluation.users import USERS, value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ir_measures import GenericQrel

    from irplatform.data import Qrels
    from irplatform.evaluation.sampled import SampledQrels
    from irplatform.runs.run import Run


PerTopic = Mapping[str, float]
"""Topic id to value."""

CURRENT = 10
"""The release of trec_eval that values agree with."""

_NO_DOCUMENT = "irplatform:no-such-document"

_UNJUDGED = "~irp"
"""Beginning of the short names that stand for unjudged documents."""


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
        deepest: length of the longest ranking.
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
        qrels: the judgments. Every topic with a judgment counts, even if nothing is relevant to it.
            Negative grades have trec_eval's meaning: no gain, and not judged for `Bpref` and
            `infAP`.
        run: the results.
        measures: names, see `parse_measures`.
        extra: measures of plugins by name.
        sampled: sampled judgments, for infNDCG and infAP.
        trec_eval: the release to agree with. 9 (and pytrec_eval) reads scores in 32 bits.

    Returns:
        Values under the measures' right names, in the order given.

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


def _aggregate(measure: Measure | None, values: PerTopic) -> float:
    if measure is None:
        return math.fsum(values.values()) / len(values) if values else 0.0
    aggregator = measure.aggregator()
    # By id, as trec_eval adds: a mean between two printed digits falls to one by the sum's order.
    for topic in sorted(values):
        aggregator.add(values[topic])
    return float(aggregator.result())


def standard_values(
    judged: Qrels, run: Run, measures: Mapping[str, Measure], trec_eval: int = CURRENT
) -> dict[str, dict[str, float]]:
    """Compute ir-measures' measures in as few passes as is safe.

    Args:
        judged: topic to document to whole grade; every topic has some.
        run: the results.
        measures: by ir-measures' names.
        trec_eval: the release to agree with; pytrec_eval's is 9.

    Returns:
        Measure name to the values of all judged topics.
    """
    usual = {name: measure for name, measure in measures.items() if is_usual(measure)}
    others = {name: measure for name, measure in measures.items() if name not in usual}
    values = _of_packages(judged, run, others, trec_eval) if others else {}
    if usual:
        hits = Hits.of(judged, run)
        values |= {name: values_of(hits, measure) for name, measure in usual.items()}
    return values


def _of_packages(
    judged: Qrels, run: Run, measures: Mapping[str, Measure], trec_eval: int
) -> dict[str, dict[str, float]]:
    """Compute measures with the packages behind ir-measures, and those that they get wrong."""
    # By number, since one of its packages (gdeval, for ERR) reads no other names of topics.
    numbers = {topic: str(number) for number, topic in enumerate(judged, start=1)}
    by_number: dict[str, dict[str, float]] = {name: {} for name in measures}
    qrels = {numbers[topic]: _safe(grades) for topic, grades in judged.items()}
    results = _ranks_as_scores(run, judged, numbers)
    compute = {
        **dict.fromkeys(USERS, value),
        "Accuracy": accuracy,
        "IPrec": interpolated_precision,
    }
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
    """Return the share of pairs of a relevant and another retrieved document in the right order.

    0 if nothing relevant is retrieved, 1 if nothing else is. Unjudged documents are not relevant.
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
    """Return the highest precision at a recall or above, as trec_eval 10 computes it.

    The recall is a number of relevant documents, rounded half up; release 9 rounded up. If too few
    are retrieved, the value is 0.
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
    """The value of a topic without results: 0, except for counts of judgments."""
    if measure.NAME == "NumQ":
        return 1.0
    if measure.NAME == "NumRel":
        return float(sum(grade > 0 for grade in grades.values()))
    return float(measure.DEFAULT)


def _of_subtopics(judged: Qrels, numbers: Mapping[str, str]) -> list[GenericQrel]:
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

    It writes outside its memory if all grades of a topic are negative. An extra document that is
    not relevant changes no value of such a topic.
    """
    return grades if any(g >= 0 for g in grades.values()) else {**grades, _NO_DOCUMENT: 0}


def _ranks_as_scores(
    run: Run, judged: Qrels, numbers: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Falling scores instead of the run's, with unjudged documents named by rank.

    No measure needs their names, and copying one table is much faster than reading every name.
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
    """Group measures by their parameters except cutoffs.

    ir-measures 0.4 may mix up measures with different parameters in one pass (`nDCG@20` on the
    gains of `nDCG(gains={…})@20`), depending on the order in which Python hashes them.
    """
    groups: dict[str, list[Measure]] = {}
    for measure in measures.values():
        parameters = {
            key: value for key, value in measure.params.items() if key != measure.AT_PARAM
        }
        groups.setdefault(repr(sorted(parameters.items())), []).append(measure)
    return list(groups.values())
