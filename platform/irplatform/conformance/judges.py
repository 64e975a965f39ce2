"""Checks that a judge keeps its contract: the same grades however it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.conformance.behaviour import NEW_PROCESS, consistency, difference, said
from irplatform.conformance.hard_cases import results_of_hard_cases
from irplatform.conformance.process import Inquiry
from irplatform.judging.machines import ReadyJudge
from irplatform.options import option_values
from irplatform.plugin.judges import Judge
from irplatform.registry.dependencies import ChosenSystem
from irplatform.registry.loading import registry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.conformance.behaviour import Outputs, Results
    from irplatform.conformance.data import CheckData
    from irplatform.conformance.process import TopicCandidates
    from irplatform.data import LabelledTopic
    from irplatform.plugin.judges import Grades
    from irplatform.registry.registration import Registration

_GRADES: Grades = {0: "not relevant", 1: "partly relevant", 2: "relevant"}
_UNJUDGED = -1
"""Stands for no grade, beside grades."""


@dataclass(frozen=True)
class _Question(Inquiry):
    """What a judge in a new process is asked, and fitted on if it learns."""

    training: Sequence[LabelledTopic] = ()


def chosen_judges(
    registrations: Sequence[Registration[Judge]],
    settings: Mapping[str, object],
    others: Sequence[Registration[Any]],
) -> tuple[list[ChosenSystem[Judge]], dict[str, object]]:
    """Return judges with their options, and the settings that `others` take, or nobody."""
    key_sets, values = [], []
    for registration in registrations:
        keys, options = option_values(registration, settings)
        key_sets.append(keys)
        values.append(registration.options(options))
    shared = {key for system in others for key in option_values(system, settings)[0]}
    judge_keys = set[str]().union(*key_sets) - shared
    rest = {key: value for key, value in settings.items() if key not in judge_keys}
    return [*map(ChosenSystem, registrations, values)], rest


def results_of_judge(choice: ChosenSystem[Judge], data: CheckData) -> Results:
    """Check the contract; InputError or PluginError if it cannot be checked."""

    def ready() -> ReadyJudge:
        with data.watch.during("prepare()", networks=True):
            return _ready(choice, data.resources, data.training)

    def grades(judge: ReadyJudge, pairs: TopicCandidates) -> Outputs:
        with data.watch.during("judge()"):
            return _judged(judge, pairs, data.resources)

    data.watch.look_at(choice)
    _ = choice.reads
    judge = ready()
    yield "declarations", ""
    expected = grades(judge, data.topics)
    change = difference(data.topics, expected, grades(ready(), data.topics))
    yield "another instance", said(change, "by another instance")
    if choice.registration.plugin.installed and not change:
        resources = data.resources.unopened()
        training = data.training
        question = _Question(choice.name, choice.options, data.topics, resources, training=training)
        answer = data.process.ask(_outputs, question, choice.name, choice.registration.full_title)
        change = difference(data.topics, expected, answer)
        yield "another process", said(change, NEW_PROCESS)
    topic, doc_ids = data.topics[0]
    _ = judge.tokens(topic, data.resources.documents(doc_ids)), judge.spent()
    same = judge.source == ready().source
    yield "version and tokens", "" if same else "its version differs by another instance"
    yield from consistency(lambda topics: grades(judge, topics), data.topics)
    yield from results_of_hard_cases(lambda topics: grades(judge, topics), data)


def _ready(
    choice: ChosenSystem[Judge], resources: CollectionResources, training: Sequence[LabelledTopic]
) -> ReadyJudge:
    """A prepared judge; one that learns is fitted to candidates, not judged ones the lowest."""
    judge = ReadyJudge.of(choice, _GRADES, resources)
    if type(judge.judge).fit is not Judge.fit:
        judged = []
        for example in training:
            grades = [int(min(max(example.judgments.get(d, 0), 0), 2)) for d in example.candidates]
            judged.append((example.topic, resources.documents(example.candidates), grades))
        judge.fit(judged)
    return judge


def _judged(judge: ReadyJudge, pairs: TopicCandidates, resources: CollectionResources) -> Outputs:
    outputs = []
    for topic, doc_ids in pairs:
        judged = judge.judged(topic, resources.documents(doc_ids))
        values = [_UNJUDGED if grade is None else grade for grade in judged]
        outputs.append(np.array(values, dtype=np.float64))
    return outputs


def _outputs(question: _Question) -> Outputs:
    choice = ChosenSystem(registry().judge(question.system), question.options)
    judge = _ready(choice, question.resources, question.training)
    return _judged(judge, question.topics, question.resources)
