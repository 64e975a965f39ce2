"""Groups of features together: which apply, and their matrices side by side.

Features that are not learned are the same for every member of a system, so they are remembered
while the process runs, and those of training topics are kept in the cache.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from irplatform.errors import InputError, PluginError
from irplatform.plugin import Documents, FeatureGroup, Topic, TrainableFeatureGroup
from irplatform.storage import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from irplatform.plugin import Resources
    from irplatform_ltr.learners.learner import Features

Batch = list[tuple[Topic, Documents]]

_FORMAT = 1
"""Raise it when a group of this package computes something else."""
_REMEMBERED = 1 << 28
"""Bytes of features that are remembered per collection."""
_DOCUMENTS_AT_ONCE = 10_000


@dataclass(frozen=True)
class Group:
    """A group of features under its name."""

    name: str
    settings: Mapping[str, Any]
    held: FeatureGroup

    @property
    def learns(self) -> bool:
        """Whether its features are learned from judgments."""
        return isinstance(self.held, TrainableFeatureGroup)

    @property
    def columns(self) -> tuple[str, ...]:
        """Its features' names, with its own before."""
        return tuple(f"{self.name}.{name}" for name in self.held.names())

    @cached_property
    def described(self) -> dict[str, Any]:
        """What its features depend on, beside documents and topics."""
        return {
            "group": self.name,
            "options": self.held.options.model_dump(mode="json"),
            "features": list(self.held.names()),
            "of": dict(self.held.depends_on()),
            "format": _FORMAT,
        }

    def checked(self, batch: Batch) -> list[Features]:
        """Its features for a batch of topics.

        Raises:
            PluginError: it returned a matrix of another shape, or numbers that are not finite.
        """
        found = []
        for (topic, documents), given in zip(batch, self.held.compute_batch(batch), strict=True):
            values = np.asarray(given, dtype=np.float32)
            wanted = (len(documents), len(self.held.names()))
            if values.shape != wanted:
                raise PluginError(
                    f"feature group '{self.name}' returned an array of shape {values.shape} for "
                    f"topic {topic.id}; {wanted} is needed."
                )
            if not np.isfinite(values).all():
                column = int(np.argwhere(~np.isfinite(values))[0][1])
                raise PluginError(
                    f"feature '{self.columns[column]}' of topic {topic.id} is not finite."
                )
            found.append(values)
        return found


def open_groups(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]], resources: Resources
) -> list[Group]:
    """Make groups of features ready.

    Raises:
        InputError: there is no such group, it is named twice, or settings are for another one.
    """
    for name in settings:
        if name not in names:
            raise InputError(f"settings.{name} has no effect: '{name}' is not among the features.")
    if len(set(names)) < len(names):
        raise InputError("a group of features is named twice.")
    return [
        Group(name, settings.get(name, {}), resources.feature_group(name, settings.get(name, {})))
        for name in names
    ]


class _Memory:
    """Matrices by key; the oldest are forgotten when there are too many."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Features] = OrderedDict()
        self._bytes = 0

    def get(self, key: str) -> Features | None:
        return self._held.get(key)

    def put(self, key: str, values: Features) -> None:
        self._held[key] = values
        self._bytes += values.nbytes
        while self._bytes > _REMEMBERED and len(self._held) > 1:
            self._bytes -= self._held.popitem(last=False)[1].nbytes


_memories: WeakKeyDictionary[Any, _Memory] = WeakKeyDictionary()
"""Per forward index, which stands for the collection's documents."""


class Calculator:
    """Computes features of groups that are not learned, each topic's once.

    Args:
        resources: what the harness lends.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._memory = _memories.setdefault(resources.forward_index(), _Memory())

    def compute(self, group: Group, batch: Batch) -> list[Features]:
        """Features of a group for a batch of topics."""
        described = json.dumps(group.described, sort_keys=True)
        keys = [_key(described, topic, documents.ids) for topic, documents in batch]
        new = [number for number, key in enumerate(keys) if self._memory.get(key) is None]
        fresh = group.checked([batch[number] for number in new]) if new else []
        found = {keys[number]: values for number, values in zip(new, fresh, strict=True)}
        for key in keys:
            if (held := self._memory.get(key)) is not None:
                found[key] = held
        for number in new:
            self._memory.put(keys[number], found[keys[number]])
        return [found[key] for key in keys]

    def compute_all(
        self, group: Group, topics: Sequence[tuple[Topic, Sequence[str]]]
    ) -> list[Features]:
        """Features of a group for many topics; they are kept in the cache."""
        mark = hashlib.sha256()
        for topic, ids in topics:
            mark.update(_key("", topic, ids).encode())

        def build(folder: Path) -> None:
            found: list[Features] = []
            with self._resources.progress(f"{group.name} features", len(topics)) as advance:
                for batch in self._batches(topics):
                    found += group.checked(batch)
                    advance(len(batch))
            width = len(group.columns)
            np.save(folder / "features.npy", np.concatenate([*found, np.empty((0, width), "f4")]))

        place = self._resources.artifact(
            "ltr-features", {**group.described, "topics": mark.hexdigest()}, build
        )
        values: Features = np.load(place / "features.npy", mmap_mode="r", allow_pickle=False)
        ends = np.cumsum([len(ids) for _, ids in topics])
        return np.split(values, ends[:-1])

    def _batches(self, topics: Sequence[tuple[Topic, Sequence[str]]]) -> list[Batch]:
        batches: list[Batch] = [[]]
        size = 0
        for topic, ids in topics:
            if size + len(ids) > _DOCUMENTS_AT_ONCE and batches[-1]:
                batches.append([])
                size = 0
            batches[-1].append((topic, self._resources.documents(ids)))
            size += len(ids)
        return batches


def computed(
    group: Group,
    topics: Sequence[tuple[Topic, Sequence[str]]],
    documents: Callable[[Sequence[str]], Documents],
) -> list[Features]:
    """Features of a group that learned something, not kept anywhere."""
    return [group.checked([(topic, documents(ids))])[0] for topic, ids in topics]


def _key(described: str, topic: Topic, ids: Sequence[str]) -> str:
    return fingerprint(
        {"group": described, "topic": [topic.id, topic.query, dict(topic.fields)], "ids": list(ids)}
    )
