"""Groups of features as they are sent to workers, which load plugins anew."""

from __future__ import annotations

import pickle
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from irplatform.features.groups import Group, open_groups
from irplatform.knowledge.installation import Manifest, installed, lend
from irplatform.registry.loading import registry
from irplatform.workers.cluster import on_another_machine
from irplatform.workers.distribution import several_workers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.data import Topic
    from irplatform.features.groups import Features
    from irplatform.plugin.resources import Resources


@dataclass(frozen=True)
class SentGroup:
    """A group that does not learn, as a worker makes it, with the knowledge bases."""

    name: str
    settings: Mapping[str, Any]
    resources: Resources
    knowledge: Mapping[str, Manifest]

    @cached_property
    def _group(self) -> Group:
        if on_another_machine():
            lend(self.knowledge)
        return open_groups([self.name], {self.name: self.settings}, self.resources)[0]

    def compute(self, topics: Sequence[tuple[Topic, Sequence[str]]]) -> list[Features]:
        """Return the features of documents, by their ids, for each topic."""
        return self._group.checked([(t, self.resources.documents(ids)) for t, ids in topics])


def sent_group(group: Group, resources: Resources) -> SentGroup | None:
    """Return a group to send to workers; None with one worker, or if it cannot be sent."""
    unopened = getattr(resources, "unopened", None)
    registration, counterpart = group.registration, registry().features.get(group.name)
    if group.learns or not several_workers() or unopened is None or registration != counterpart:
        return None
    worker_group = SentGroup(group.name, dict(group.settings), unopened(), installed())
    with suppress(pickle.PicklingError, TypeError, AttributeError):
        if registration.plugin.installed and pickle.dumps(worker_group):
            return worker_group
    return None
