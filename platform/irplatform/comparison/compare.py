"""Compares systems over topics: scores, tests, bounds, ranks, groups, and plain sentences."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from irplatform.comparison.bounded import Bounded, KnownBounds
from irplatform.comparison.bounds import Rescorer, judged_at, mean
from irplatform.comparison.groups import group_topics
from irplatform.comparison.identities import rankings_of_others, untested
from irplatform.comparison.power import power_of
from irplatform.comparison.ranking import rank_intervals
from irplatform.comparison.results import (
    ComparedTopic,
    Comparison,
    Group,
    Pair,
    Score,
    System,
    verdict_of,
)
from irplatform.comparison.sentences import sentence
from irplatform.comparison.tests import (
    CORRECTION_NAMES,
    TEST_NAMES,
    all_topics,
    differences,
    first_alike,
    paired_test,
)
from irplatform.errors import InputError, unknown
from irplatform.evaluation.scoring import evaluations_of
from irplatform.evaluation.topics import cut_short, notices
from irplatform.run_folder.mixture import Mixture
from irplatform.spelling import option
from irplatform.system.console import progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.comparison.results import Matrix
    from irplatform.comparison.tests import Correction, Difference, Test
    from irplatform.data import Topic
    from irplatform.evaluation.judgments import Judgments
    from irplatform.evaluation.kinds import MeasureFunction
    from irplatform.evaluation.scoring import Evaluation
    from irplatform.runs.run import Run

T = TypeVar("T")


def compare(
    judgments: Judgments,
    runs: Mapping[str, Run],
    *,
    baseline: str | None = None,
    all_pairs: bool = False,
    test: Test = "t-test",
    correction: Correction = "holm",
    topics: Sequence[Topic] = (),
    group_by: str | None = None,
    extra: Mapping[str, MeasureFunction] | None = None,
    evaluations: Mapping[str, Evaluation] | None = None,
    seed: int = 0,
    collection: str = "",
    note: str = "",
    bounds: bool = True,
    matrix: Matrix | None = None,
    mixtures: Mapping[str, Mixture] | None = None,
    alone: Mapping[str, Evaluation] | None = None,
) -> Comparison:
    """Compare systems by all measures of the judgments.

    Args:
        judgments: judgments and measures; the first measure leads tables and sentences.
        runs: name to run.
        baseline: the system that all others are compared with; by default the first that is not a
            reranker without weight.
        all_pairs: compare every two systems instead.
        test: the paired test, see `paired_test`.
        correction: for the number of pairs, see `corrected`.
        topics: the collection's topics, for queries and groups.
        group_by: a field of the topics, or "query-length", see `group_topics`.
        extra: measures of plugins.
        evaluations: the systems' scores, if they are known.
        seed: of the draws of tests and rank intervals.
        collection: the collection's title.
        note: what readers of the scores must know.
        bounds: whether to compute condensed lists, and bounds for unjudged and tied documents,
            which takes ten times as long as the scores.
        matrix: compare each reranked run with its first stage, in place of one baseline.
        mixtures: what systems are made of, as far as known. One without a ranking of its own has no
            verdict and no rank, see `identities`.
        alone: the scores of rerankers by themselves.

    Raises:
        InputError: an unknown baseline, test, correction or field, or nothing to compare.

    Examples:
        >>> from irplatform.evaluation.judgments import Judgments
        >>> from irplatform.runs import Ranking, Run
        >>> judgments = Judgments({"1": {"a": 1}, "2": {"b": 1}}, None, ["RR"])
        >>> one = Run("one", {t: Ranking.of(["a", "b"], [2, 1]) for t in "12"})
        >>> two = Run("two", {t: Ranking.of(["a", "b"], [1, 2]) for t in "12"})
        >>> pair = compare(judgments, {"one": one, "two": two}).pairs[0]
        >>> pair.difference, pair.wins, pair.ties_of_topics, pair.losses
        (0.0, 1, 0, 1)
    """
    if len(runs) < 2:
        raise InputError("give at least two runs to compare.")
    if baseline is not None and baseline not in runs:
        raise unknown("run", baseline, runs)
    if test not in TEST_NAMES:
        raise unknown("test", test, TEST_NAMES)
    if correction not in CORRECTION_NAMES:
        raise unknown("correction", correction, CORRECTION_NAMES)
    measures = list(judgments.measures)
    if evaluations is None:
        evaluations = evaluations_of(judgments, runs, measures, extra)
    evaluations = {name: _of_all_topics(evaluation) for name, evaluation in evaluations.items()}
    mixtures = mixtures or {}
    having = (name for name in runs if not mixtures.get(name, Mixture()).has_no_weight)
    first = baseline or next(having, next(iter(runs)))
    pairs = matrix.pairs() if matrix else [(first, name) for name in runs if name != first]
    if all_pairs:
        pairs = [*combinations(runs, 2)]
    baselines = () if all_pairs else {one for one, _ in pairs}
    others, contradictions = rankings_of_others(runs, evaluations, mixtures, baselines)
    # A first stage may have the ranking of another row's, and is a baseline all the same.
    keepers = [n for n in runs if n not in others]
    usable = {*keepers, *(b for b in baselines if not mixtures.get(b, Mixture()).has_no_weight)}
    tested = [(one, other) for one, other in pairs if one in usable and other in keepers]
    tests = differences(evaluations, tested, test=test, correction=correction, seed=seed)
    rescorer = Rescorer(judgments, extra)
    bounded = None
    if bounds:
        cache = KnownBounds(runs, judgments.qrels, rescorer.measures, extra)
        bounded = Bounded(rescorer, runs, evaluations, cache)
    ranked = {name: evaluations[name] for name in keepers}
    systems = [
        replace(
            _with_alone(system, (alone or {}).get(system.name)),
            mixture=mixtures.get(system.name, Mixture()),
            ranking_of=others.get(system.name, ""),
        )
        for system in _systems(judgments, runs, evaluations, ranked, rescorer.measures, seed)
    ]
    if bounded:
        systems = [bounded.with_scores(system) for system in systems]
    comparisons = _attempts(tested, evaluations)
    count = 1 if correction == "none" else comparisons
    outcomes = [
        bounded.with_bounds(outcome, test, seed) if bounded else outcome
        for pair in _counted(pairs)
        for outcome in (
            _tested(pair, tests[pair], count) if pair in tests else untested(pair, systems)
        )
    ]
    if judgments.people is not None:
        tests = differences(
            evaluations_of(judgments.people, runs, measures, extra, "scoring by people"),
            tested,
            test=test,
            correction=correction,
            seed=seed,
        )
        outcomes = [
            outcome if outcome.p is None else _with_people(outcome, tests) for outcome in outcomes
        ]
    outcomes = [
        outcome if outcome.sentence else replace(outcome, sentence=sentence(outcome))
        for outcome in outcomes
    ]
    by_id = {topic.id: topic for topic in topics}
    scored = dict.fromkeys(t for m in measures for t in evaluations[first].per_topic[m])
    compared = [
        ComparedTopic(t, by_id[t].query, by_id[t].fields) if t in by_id else ComparedTopic(t)
        for t in scored
    ]
    groups: list[Group] = []
    if group_by:
        if not by_id:
            raise InputError(
                f"groups of topics need {option('collection')}: judgments have no fields."
            )
        grouped = group_topics([by_id[t] for t in scored if t in by_id], group_by)
        groups = [_group(*item, evaluations, tested, measures) for item in grouped.items()]
    return Comparison(
        measures=tuple(measures),
        systems=tuple(systems),
        pairs=tuple(outcomes),
        topics=tuple(compared),
        baseline=None if all_pairs or matrix else first,
        test=test,
        correction=correction,
        comparisons=comparisons,
        groups=tuple(groups),
        group_by=group_by or "",
        collection=collection,
        note=note,
        notes=(*notices(evaluations), *contradictions, *cut_short(evaluations), *_notes(rescorer)),
        matrix=matrix,
    )


def _of_all_topics(evaluation: Evaluation) -> Evaluation:
    """Count topics without results as 0 for measures of sampled judgments, too."""
    per_topic = {measure: all_topics(measure, evaluation) for measure in evaluation.per_topic}
    filled = {
        measure: mean(values.values())
        for measure, values in per_topic.items()
        if len(values) > len(evaluation.per_topic[measure])
    }
    return replace(evaluation, per_topic=per_topic, aggregate={**evaluation.aggregate, **filled})


def _notes(rescorer: Rescorer) -> list[str]:
    if rescorer.names_others or not rescorer.measures:
        return []
    return ["the judgments name relevant documents only: all others count as not relevant"]


def _tested(
    names: tuple[str, str], tests: Mapping[str, Difference], comparisons: int
) -> Iterator[Pair]:
    """Yield a pair by each measure, with its verdict."""
    for measure, test in tests.items():
        power = power_of(test.difference, test.deviation, test.n, comparisons)
        yield Pair(*names, measure, test, power, verdict=verdict_of(test))


def _counted(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield pairs, and show how many were looked at."""
    with progress("looking at pairs", len(pairs), "pairs") as advance:
        for pair in pairs:
            yield pair
            advance(1)


def _attempts(pairs: Sequence[tuple[str, str]], evaluations: Mapping[str, Evaluation]) -> int:
    """The number of different pairs, as `differences` counts them."""
    same_as = first_alike(evaluations)
    alike = {frozenset((same_as[one], same_as[other])) for one, other in pairs}
    return sum(len(pair) == 2 for pair in alike)


def _systems(
    judgments: Judgments,
    runs: Mapping[str, Run],
    evaluations: Mapping[str, Evaluation],
    ranked: Mapping[str, Evaluation],
    judged_measures: Sequence[str],
    seed: int,
) -> list[System]:
    """The systems with means, judged shares, and the ranks of some."""
    measures = list(judgments.measures)
    ranks = {}
    for measure in measures:
        values = {name: evaluation.per_topic[measure] for name, evaluation in ranked.items()}
        ranks[measure] = rank_intervals(values, seed=seed)
    depths = {measure: judged_at(measure) for measure in judged_measures}
    judged: Mapping[str, Evaluation] = {}
    if depths and any(run.rankings for run in runs.values()):
        share_measures = [f"Judged@{depth}" for depth in dict.fromkeys(depths.values())]
        ranked_runs = {name: run for name, run in runs.items() if run.rankings}
        judged = evaluations_of(
            judgments, ranked_runs, share_measures, None, "counting judged documents"
        )
    systems = []
    for name in runs:
        shares = judged[name].aggregate if name in judged else {}
        scores = {}
        for measure in measures:
            per_topic = evaluations[name].per_topic[measure]
            share = shares.get(f"Judged@{depths.get(measure)}")
            scores[measure] = Score(
                evaluations[name].aggregate[measure],
                _interval([*per_topic.values()]),
                per_topic,
                ranks[measure].get(name),
                judged_at=None if share is None else depths[measure],
                judged=share,
                machine=_machine_judged(runs[name], judgments, [*per_topic], measure),
            )
        systems.append(System(name, scores))
    return systems


def _machine_judged(
    run: Run, judgments: Judgments, topics: Sequence[str], measure: str
) -> float | None:
    """How many of the first k documents of a topic machines alone judged, on average."""
    if not judgments.machine:
        return None
    first = {t: run.rankings[t].doc_ids[: judged_at(measure)] for t in topics if t in run.rankings}
    machine: frozenset[str] = frozenset()
    return mean(len(judgments.machine.get(t, machine) & {*first.get(t, ())}) for t in topics)


def _with_people(pair: Pair, tests: Mapping[tuple[str, str], Mapping[str, Difference]]) -> Pair:
    """Add the test by people's judgments, and whether the verdict or the order hangs on others."""
    people = tests[pair.baseline, pair.system][pair.measure]
    other_order = pair.difference * people.difference < 0
    hangs = other_order or verdict_of(people) != pair.verdict
    return replace(pair, people=people, depends_on=(*pair.depends_on, *["machines"] * hangs))


def _with_alone(system: System, alone: Evaluation | None) -> System:
    if alone is None:
        return system
    means = _of_all_topics(alone).aggregate
    scores = {m: replace(score, alone=means.get(m)) for m, score in system.scores.items()}
    return replace(system, scores=scores)


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Student's 95 % interval of a mean."""
    from scipy.special import stdtrit

    n = len(values)
    if n < 2:
        return None
    centre = mean(values)
    reach = float(stdtrit(n - 1, 0.975)) * float(np.std(values, ddof=1)) / math.sqrt(n)
    return centre - reach, centre + reach


def _group(
    value: str,
    ids: Sequence[str],
    evaluations: Mapping[str, Evaluation],
    pairs: Sequence[tuple[str, str]],
    measures: Sequence[str],
) -> Group:
    values = {
        name: {m: {t: v for t, v in e.per_topic[m].items() if t in {*ids}} for m in measures}
        for name, e in evaluations.items()
    }
    return Group(
        value,
        tuple(ids),
        {name: {m: mean(v.values()) for m, v in by_m.items()} for name, by_m in values.items()},
        {
            (one, other): {
                m: paired_test(values[one][m], values[other][m]) for m in measures if values[one][m]
            }
            for one, other in pairs
        },
    )
