"""Checks that a judge keeps its contract: the same grades however it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.conformance.behaviour import NEW_PROCESS, consistency, difference, said
from irplatform.conformance.hard_cases import results_of_hard_cases
from irplatform.conformance.process import Inquiry
from irplatform.judging.machines import ReadyJudge
from irplatform.options import option_values
from irplatform.registry.dependencies import Chosen
from irplatform.registry.loading import registry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.conformance.behaviour import Outputs, Results
    from irplatform.conformance.data import CheckData
    from irplatform.conformance.process import TopicCandidates
    from irplatform.plugin.judges import Grades, Judge
    from irplatform.registry.lookup import Registry
    from irplatform.registry.registration import Registration

_GRADES: Grades = {0: "not relevant", 1: "partly relevant", 2: "relevant"}
_UNJUDGED = -1
"""Stands for no grade, beside grades."""


def chosen_judges(
    names: Sequence[str], settings: Mapping[str, object], plugins: Registry
) -> tuple[list[Chosen[Judge]], dict[str, object]]:
    """Return judges with their options, and the settings that are not theirs alone."""
    judges, theirs = [], set[str]()
    for name in names:
        registration = plugins.judges[name]
        used, values = option_values(registration, settings)
        judges.append(Chosen(registration, registration.options(values)))
        theirs |= used
    others: list[Registration[Any]] = []
    if theirs:
        others = [*plugins.retrievers.values(), *plugins.rerankers.values()]
    shared = {key for each in others if not each.broken for key in option_values(each, settings)[0]}
    rest = {key: value for key, value in settings.items() if key not in theirs - shared}
    return judges, rest


def results_of_judge(choice: Chosen[Judge], data: CheckData) -> Results:
    """Check the contract; InputError or PluginError if it cannot be checked."""

    def ready() -> ReadyJudge:
        with data.watch.during("prepare()", networks=True):
            return ReadyJudge.of(choice, _GRADES, data.resources)

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
        question = Inquiry(choice.name, choice.options, data.topics, resources)
        found = data.process.ask(_asked, question, choice.name, choice.registration.who)
        change = difference(data.topics, expected, found)
        yield "another process", said(change, NEW_PROCESS)
    topic, doc_ids = data.topics[0]
    _ = judge.tokens(topic, data.resources.documents(doc_ids)), judge.spent()
    same = judge.source == ready().source
    yield "version and tokens", "" if same else "its version differs by another instance"
    yield from consistency(lambda topics: grades(judge, topics), data.topics)
    yield from results_of_hard_cases(lambda topics: grades(judge, topics), data)


def _judged(judge: ReadyJudge, pairs: TopicCandidates, resources: CollectionResources) -> Outputs:
    outputs = []
    for topic, doc_ids in pairs:
        judged = judge.judged(topic, resources.documents(doc_ids))
        values = [_UNJUDGED if grade is None else grade for grade in judged]
        outputs.append(np.array(values, dtype=np.float64))
    return outputs


def _asked(question: Inquiry) -> Outputs:
    choice = Chosen(registry().judge(question.system), question.options)
    judge = ReadyJudge.of(choice, _GRADES, question.resources)
    return _judged(judge, question.topics, question.resources)
