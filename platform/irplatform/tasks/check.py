"""Checks of a submission by the rules of its task."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from irplatform.comparison.bounds import Rescorer
from irplatform.errors import counted
from irplatform.evaluation.measure_names import cutoff_of
from irplatform.evaluation.scoring import evaluate
from irplatform.runs.bioasq import holds_json
from irplatform.runs.trec import Problem, read_run
from irplatform.spelling import option
from irplatform.tasks.catalogue.rules import FORMS
from irplatform.tasks.check_answers import check_answers
from irplatform.tasks.check_runs import RunCheck, validate_run

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from irplatform.evaluation.judgments import Judgments
    from irplatform.evaluation.kinds import MeasureFunction
    from irplatform.runs.content import Spans
    from irplatform.tasks.catalogue.rules import Task

_AT_THE_CUTOFF = {"P", "R", "Success", "Recall", "SetP", "Judged"}
"""Measures that only depend on which documents are above their cutoff."""


@dataclass(frozen=True)
class TaskData:
    """The topics, documents and judgments that a submission is checked against.

    Attributes:
        topics: ids of the topics; None if they are not known.
        contains: says if the collection has a document; None looks none up.
        judgments: the judgments, if there are any.
        collection: the collection, as the user names it; "" without one.
        id: the id of the collection.
    """

    topics: Mapping[str, None] | None = None
    contains: Callable[[str], bool] | None = None
    judgments: Judgments | None = None
    collection: str = ""
    id: str = ""


@dataclass(frozen=True)
class TiedMeasure:
    """A measure that the order of documents with equal scores can move.

    Attributes:
        measure: its name.
        topics: the topics where it can.
        value: the value of the run; None without judgments, as the next two.
        low: the value with tied documents in the worst order.
        high: the value with tied documents in the best order.
    """

    measure: str
    topics: tuple[str, ...]
    value: float | None = None
    low: float | None = None
    high: float | None = None


def check_submission(
    path: Path,
    task: Task,
    *,
    topics: Collection[str] | None = None,
    has_document: Callable[[str], bool] | None = None,
) -> RunCheck:
    """Check a run or a file of answers by a task's rules.

    For BioASQ, a run is checked as the one that answers are made from.

    Args:
        path: the file.
        task: the task.
        topics: ids of its topics; by default those that its rules name.
        has_document: says if the collection has a document.

    Raises:
        InputError: the file cannot be read.
    """
    rules = task.rules
    expected = task.topic_ids if topics is None else topics
    if task.form != "trec" and holds_json(path):
        return check_answers(path, task, expected, has_document)
    if task.form.startswith("biogen"):
        return RunCheck([Problem("error", f"{task.name} takes answers: {FORMS[task.form]}.", 1)])
    if task.form != "trec":  # its depth is that of answers
        rules = rules.model_copy(update={"depth": None})
    check = validate_run(path, rules, topics=expected or None, has_document=has_document)
    if expected or rules.topics in (None, check.topics) or not check.topics:
        return check
    excess = "too many" if check.topics > (rules.topics or 0) else "missing"
    message = (
        f"{counted(check.topics, 'topic')}, but the task has {rules.topics:,}. "
        f"{option('topics', 'FILE')} or {option('collection')} tells which are {excess}."
    )
    return replace(check, problems=[*check.problems, Problem("error", message)])


def too_many_runs(number: int, task: Task) -> str:
    """Return what is wrong with the number of runs of a group, or ""."""
    most = task.rules.runs
    if most is None or number <= most * len(task.rules.snapshots or [""]):
        return ""
    return f"{task.name} takes at most {counted(most, 'run')} of a group; these are {number:,}."


def tied_measures(
    path: Path,
    check: RunCheck,
    measures: Sequence[str],
    judgments: Judgments | None,
    extra: Mapping[str, MeasureFunction],
) -> list[TiedMeasure]:
    """Return the measures that the order of documents with equal scores can move.

    Args:
        path: of a run that can be read.
        check: what its check found.
        measures: the measures.
        judgments: if given, the measures' values and bounds follow from them. Bounds of measures
            of sampled judgments are not known.
        extra: measures of plugins.
    """
    bounded = judgments.measures if judgments is not None else ()
    tied = ((name, _moved(name, check.ties)) for name in measures if name not in bounded)
    moved = [TiedMeasure(name, topics) for name, topics in tied if topics]
    if judgments is None or not check.ties:
        return moved
    run = read_run(path)
    rescorer = Rescorer(judgments, extra)
    low, high = (rescorer.reordered(run, best=best) for best in (False, True))
    values = evaluate(rescorer.qrels, run, rescorer.measures, extra=extra).per_topic
    for name in rescorer.measures:
        worst, best = ({**values[name], **bounds[name]} for bounds in (low, high))
        topics = tuple(topic for topic in best if best[topic] > worst[topic])
        if topics:
            means = (fmean(scores.values()) for scores in (values[name], worst, best))
            moved.append(TiedMeasure(name, topics, *means))
    return moved


def in_words(tied: Sequence[TiedMeasure], check: RunCheck) -> list[str]:
    """Describe what ties can move, measures of the same topics together.

    Args:
        tied: the measures that ties can move.
        check: the check of the run.
    """
    together: dict[tuple[str, ...], list[TiedMeasure]] = {}
    for measure in tied:
        together.setdefault(measure.topics, []).append(measure)
    described = []
    for topics, measures in together.items():
        first, last, topic = min((*check.ties[topic][0], topic) for topic in topics)
        place = f"{len(topics):,} of {counted(check.topics, 'topic')}"
        ranks = f"the highest at ranks {first} to {last} of topic '{topic}'"
        described.append(f"{', '.join(map(_of_measure, measures))} in {place}, {ranks}")
    return described


def _of_measure(tied: TiedMeasure) -> str:
    if tied.low is None or tied.high is None:
        return tied.measure
    low, high = f"{tied.low:.4f}", f"{tied.high:.4f}"
    if low == high:
        return f"{tied.measure} by less than 0.0001"
    return f"{tied.measure} between {low} and {high} (now {tied.value:.4f})"


def _moved(measure: str, ties: Mapping[str, Spans]) -> tuple[str, ...]:
    """The topics where equal scores are at ranks that a measure looks at."""
    cutoff = cutoff_of(measure)
    base = re.split(r"[@(]", measure)[0]
    moved = []
    for topic, ranks in ties.items():
        if cutoff is None or any(
            first <= cutoff and (last > cutoff or base not in _AT_THE_CUTOFF)
            for first, last in ranks
        ):
            moved.append(topic)
    return tuple(moved)
