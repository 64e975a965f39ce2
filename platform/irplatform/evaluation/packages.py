"""The packages behind ir-measures: which one computes a measure, and its values.

ir-measures hands each measure to one of several packages, and each orders tied documents in its own
way. The order of a `Run` is decided already, so the packages get its ranks as scores, which have no
ties.
"""

from __future__ import annotations

import math
from itertools import compress, islice
from typing import TYPE_CHECKING, Any

from irplatform.data import subtopics_of
from irplatform.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ir_measures import GenericQrel

    from irplatform.data import Qrels
    from irplatform.evaluation.kinds import IrMeasure, Scored, Standard
    from irplatform.runs.run import Run

_NO_DOCUMENT = "irplatform:no-such-document"

_UNJUDGED = "~irp"
"""Beginning of the short names that stand for unjudged documents."""


def values_of_packages(
    measures: Mapping[str, Standard], scored: Scored
) -> dict[str, dict[str, float]]:
    """Compute measures with the packages behind ir-measures, in as few passes as is safe.

    Returns:
        Measure name to the values of all judged topics.

    Raises:
        PlatformError: a package fails.
    """
    judged = scored.whole_grades
    # By number, since one of its packages (gdeval, for ERR) reads no other names of topics.
    numbers = {topic: str(number) for number, topic in enumerate(judged, start=1)}
    by_number: dict[str, dict[str, float]] = {name: {} for name in measures}
    qrels = {numbers[topic]: _safe(grades) for topic, grades in judged.items()}
    results = _ranks_as_scores(scored.results, judged, numbers)
    diverse = {name: m.ir_measure for name, m in measures.items() if m.of_subtopics}
    others = {name: m.ir_measure for name, m in measures.items() if name not in diverse}
    parts: list[tuple[dict[str, IrMeasure], Any]] = [(others, qrels)]
    if diverse:
        parts.append((diverse, _of_subtopics(judged, numbers)))
    for part, judgments in parts:
        for group in _groups(part):
            try:
                _compute(group, judgments, results, by_number)
            except PlatformError:
                for measure in group:  # which one it is
                    _compute([measure], judgments, results, by_number)
                raise
    return {
        name: {
            topic: by_number[name].get(number, float(measure.ir_measure.DEFAULT))
            if number in results
            else measure.value_without_results(judged[topic])
            for topic, number in numbers.items()
        }
        for name, measure in measures.items()
    }


def _of_subtopics(judged: Qrels, numbers: Mapping[str, str]) -> list[GenericQrel]:
    from ir_measures import GenericQrel

    return [
        GenericQrel(numbers[topic], document, grade, subtopic)
        for topic, subtopics in subtopics_of(judged).items()
        for subtopic, grades in subtopics.items()
        for document, grade in grades.items()
    ]


def _compute(
    group: Sequence[IrMeasure],
    qrels: Qrels | Sequence[GenericQrel],
    results: Mapping[str, Mapping[str, float]],
    by_number: Mapping[str, dict[str, float]],
) -> None:
    import ir_measures

    values_by_id: dict[int, dict[str, float]] = {}  # hashing or printing a measure takes its time
    alive: list[IrMeasure] = []  # an object's id is its own as long as it lives
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
        is_longest = len(ranking) == longest
        scores = table.copy() if is_longest else dict(islice(table.items(), len(ranking)))
        results[number] = scores
        for rank in compress(range(len(ranking)), is_judged):
            scores[ranking.doc_ids[rank]] = scores.pop(places[rank])
    return results


def _groups(measures: Mapping[str, IrMeasure]) -> list[list[IrMeasure]]:
    """Group measures by their parameters except cutoffs.

    ir-measures 0.4 may mix up measures with different parameters in one pass (`nDCG@20` on the
    gains of `nDCG(gains={…})@20`), depending on the order in which Python hashes them.
    """
    groups: dict[str, list[IrMeasure]] = {}
    for measure in measures.values():
        parameters = {
            key: value for key, value in measure.params.items() if key != measure.AT_PARAM
        }
        groups.setdefault(repr(sorted(parameters.items())), []).append(measure)
    return list(groups.values())
