"""Where a group of features breaks its contract."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.conformance.consistency import difference, inconsistencies
from irplatform.conformance.elsewhere import NEW_PROCESS, Question, in_new_process
from irplatform.conformance.learning import problems_of_learning, train
from irplatform.errors import InputError
from irplatform.features import named_groups, open_groups
from irplatform.plugin import TrainableFeatureGroup
from irplatform.registry import registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.conformance.check_data import CheckData, TopicCandidates
    from irplatform.conformance.consistency import Outputs
    from irplatform.plugin import FeatureGroup


def problems_of_features(name: str, data: CheckData) -> Iterator[str]:
    """What breaks the contract, each in a line.

    Raises:
        InputError: its options name what is not there, or the topics lack what it reads.
        PluginError: it fails.
    """
    watch = data.watch
    with watch.during("prepare()", networks=True):
        (group,) = open_groups([name], {}, data.resources)
    _ = group.described
    named = named_groups([name])
    named.checkpoints()
    named.check_training()
    list(named.pairs_learned([topic for topic, _ in data.topics]))
    lacking = group.lacking([topic for topic, _ in data.topics])
    if lacking or not group.names:
        raise InputError(lacking or "it has no features with its default options.")

    def features(instance: FeatureGroup, topics: TopicCandidates) -> Outputs:
        documents = data.resources.documents
        batch = [(topic, documents(ids)) for topic, ids in topics]
        with watch.during("compute()"):
            return [*replace(group, held=instance).checked(batch)]

    def learner() -> TrainableFeatureGroup:
        with watch.during("prepare()", networks=True):
            instance = data.resources.feature_group(name)
        assert isinstance(instance, TrainableFeatureGroup)  # as `group.learns` says
        return instance

    def features_in_new_process(folder: Path | None) -> Outputs:
        options, registration = group.held.options, registry().features[name]
        question = Question(name, options, data.topics, data.resources.unopened(), folder)
        return in_new_process(_features, question, registration)

    instance = group.held
    if group.learns:
        trained = train(learner, group.plugin_call, data)
        yield from problems_of_learning(
            trained, learner, group.plugin_call, features, data, features_in_new_process
        )
        instance = trained
    else:
        found = features_in_new_process(None)
        if deviation := difference(data.topics, features(instance, data.topics), found):
            yield f"{deviation} {NEW_PROCESS}"
    yield from inconsistencies(lambda topics: features(instance, topics), data.topics)


def _features(question: Question) -> Outputs:
    """The features of a group in the new process."""
    (group,) = open_groups([question.system], {}, question.resources)
    if question.folder and isinstance(group.held, TrainableFeatureGroup):
        with group.plugin_call("loading"):
            group.held.load(question.folder)
    documents = question.resources.documents
    return [*group.checked([(topic, documents(ids)) for topic, ids in question.topics])]
