"""Where a group of features breaks its contract."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.conformance.answers import changes
from irplatform.conformance.learning import learned, losses
from irplatform.errors import InputError
from irplatform.features import open_groups
from irplatform.plugin import TrainableFeatureGroup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.conformance.answers import Answers
    from irplatform.conformance.ground import Asked, Ground
    from irplatform.plugin import FeatureGroup


def problems_of_features(name: str, ground: Ground) -> Iterator[str]:
    """What breaks the contract, each in a line.

    Raises:
        InputError: its options name what is not there, or the topics lack what it reads.
        PluginError: it fails.
    """
    (group,) = open_groups([name], {}, ground.resources)
    _ = group.described
    with group.at_work("reading topics"):
        lacking = group.held.lacks([topic for topic, _ in ground.asked])
    if lacking or not group.names:
        raise InputError(lacking or "it has no features with its default options.")

    def features(held: FeatureGroup, asked: Asked) -> Answers:
        documents = ground.resources.documents
        batch = [(topic, documents(ids)) for topic, ids in asked]
        return [*replace(group, held=held).checked(batch)]

    def learner() -> TrainableFeatureGroup:
        made = ground.resources.feature_group(name)
        assert isinstance(made, TrainableFeatureGroup)  # as `group.learns` says
        return made

    held = group.held
    if group.learns:
        trained = learned(learner, group.at_work, ground)
        yield from losses(trained, learner, group.at_work, features, ground)
        held = trained
    yield from changes(lambda asked: features(held, asked), ground.asked)
