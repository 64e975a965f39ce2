"""From a space of options and judged topics to tuned options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic_core import to_jsonable_python

from irplatform.arithmetic import arithmetic
from irplatform.cache import home, lock
from irplatform.choices import choose_systems
from irplatform.choices.declared import Declared, declarations
from irplatform.console import notice
from irplatform.errors import InputError, counted
from irplatform.storage import fingerprint
from irplatform.training.topic_marks import families
from irplatform.tuning.design import design
from irplatform.tuning.progress import Progress
from irplatform.tuning.report import TuneReport
from irplatform.tuning.search import Plan, search
from irplatform.tuning.space import Span
from irplatform.tuning.trials import Trial, Trials

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.evaluation.judgments import Judgments
    from irplatform.plugin import Topic
    from irplatform.reranking.systems import RerankerChoice
    from irplatform.retrieval.first_stage import RetrieverChoice
    from irplatform.tuning.space import Dimension
    from irplatform.tuning.tuned_system import TunedSystem

FEWEST_TOPICS = 10
"""Fewer judged topics than this choose nothing but chance."""
_FORMAT = 3
_END = 0.06
"""Share of a range that counts as its end."""


def tune(
    system: TunedSystem,
    dimensions: Sequence[Dimension],
    plan: Plan,
    *,
    label: str,
    collection: str,
    fixed: Mapping[str, object],
    command: Sequence[str] = (),
) -> TuneReport:
    """Search for the options that suit some topics best.

    Args:
        system: what is tuned, on which topics.
        dimensions: the options and their ranges.
        plan: how much is tried.
        label: the id of the collection that the topics are from.
        collection: the id of the collection that the options are for.
        fixed: options that were given beside those that are searched.
        command: how this was asked for.
    """
    if label != collection:
        notice(f"tuning on the topics of '{label}' for '{collection}'")
    names = [dimension.name for dimension in dimensions]
    first, second = choose_systems(
        system.plugins, system.retrievers, system.rerankers, system.settings
    )
    declared = {name: _declared([*first, *second], name) for name in names}
    depends_on = {"format": _FORMAT, **system.depends_on(), **arithmetic()}
    journal = home() / "tune" / f"{label}-{fingerprint(depends_on)}.jsonl"
    topics = [topic.id for topic in system.topics]
    journal.parent.mkdir(parents=True, exist_ok=True)
    with lock(journal, wait=True):  # a second process waits, and finds everything done
        if not system.resources.resume:
            journal.unlink(missing_ok=True)
        trials = Trials(system.describe, system.score, topics, journal)
        trials.finished = Progress(_to_run(trials, dimensions, plan), system.measure)
        values = tuple(declared[name].value for name in names)
        usual = values if None not in values else None
        outcome = search(dimensions, trials, topics, plan, usual, families(system.topics))
    return TuneReport(
        collection,
        label,
        system.measure,
        [*system.retrievers, *system.rerankers],
        names,
        {name: to_jsonable_python(option.value) for name, option in declared.items()},
        fixed,
        outcome,
        [d.name for d in dimensions if _at_end(d, declared[d.name], outcome.chosen)],
        command,
    )


def _declared(systems: Sequence[RetrieverChoice | RerankerChoice], name: str) -> Declared:
    """An option that is searched; systems must agree on what it is by default."""
    first, *others = declarations(systems, name)
    if other := next((each for each in others if each.value != first.value), None):
        raise InputError(
            f"--over {name}: by default it is {first.value} for {first.system} and {other.value} "
            f"for {other.system}. Name one, as {other.system}.{name}."
        )
    return first


def usable_topics(
    topics: Sequence[Topic], judgments: Judgments, most: int | None, seed: int
) -> list[Topic]:
    """The topics with something relevant to the measure, or so many of them, drawn at random.

    Raises:
        InputError: they are too few to choose anything on.
    """
    usable = [topic for topic in topics if judgments.is_scored(topic.id)]
    if most is not None and most < len(usable):
        numbers = np.random.default_rng([seed, 11]).permutation(len(usable))[:most]
        usable = [usable[number] for number in sorted(numbers.tolist())]
    if (distinct := len(set(families(usable)))) < FEWEST_TOPICS:
        same = distinct == len(usable)
        remark = "" if same else f", of {distinct} different questions or sources"
        are = "is" if len(usable) == 1 else "are"
        raise InputError(
            f"there {are} {counted(len(usable), 'topic')} with a relevant document to tune on"
            f"{remark}; at least {FEWEST_TOPICS} are needed."
        )
    return usable


def _at_end(span: Dimension, declared: Declared, chosen: Trial) -> bool:
    """Whether a value lies where the range ends although the option's declaration goes on."""
    if not isinstance(span, Span) or span.name not in chosen.settings:
        return False
    place = span.position(chosen.settings[span.name])
    low = place < _END and (declared.low is None or span.low > declared.low)
    high = place > 1 - _END and (declared.high is None or span.high < declared.high)
    return low or high


def _to_run(trials: Trials, dimensions: Sequence[Dimension], plan: Plan) -> int:
    """How many trials are not in the journal, at most."""
    names = [dimension.name for dimension in dimensions]
    points = design(dimensions, plan.trials, plan.seed)
    settings = [{}, *(dict(zip(names, point, strict=True)) for point in points)]
    known_count = sum(trials.known(each) for each in settings)
    if known_count:
        notice(f"{known_count:,} of {len(settings):,} trials are known from before")
    return len(settings) - known_count + plan.refine * (plan.folds + 1)
