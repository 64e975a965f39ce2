"""Features of groups: each document's computed once, and what groups learned on disk.

A document's features depend on no other document (the contract of `FeatureGroup`). So they are
remembered for all members of a system while the process runs; those of training topics are also
kept in the cache.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from irplatform.errors import InputError
from irplatform.features.cross_fitting import Folding, cross_fitted
from irplatform.features.groups import (
    Group,
    applying,
    contributions,
    open_groups,
    weigh_first_stage,
)
from irplatform.features.sending import sent_group
from irplatform.files.digests import fingerprint
from irplatform.files.formats import read_own_json
from irplatform.plugin.features import TrainableFeatureGroup
from irplatform.text.given_texts import given_texts
from irplatform.version import __version__
from irplatform.workers.distribution import batched_by_size, ordered_map

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Topic, TrainingData
    from irplatform.features.groups import Batch, Features
    from irplatform.plugin.resources import Resources
    from irplatform.text import ForwardIndex

    Topics = Sequence[tuple[Topic, Sequence[str]]]
    """Topics with the ids of their documents."""
    from irplatform.text.given_texts import GivenTexts


_REMEMBERED = 1 << 28
"""Bytes of features and of what finds them that are remembered per collection."""
_PLACE = 128
"""Bytes of a document's place, about."""
_DOCUMENTS_AT_ONCE = 2_000


class _Memory:
    """Rows of features by key and document; it forgets the least recently used topics."""

    def __init__(self) -> None:
        self._features: OrderedDict[str, tuple[dict[str, int], Features]] = OrderedDict()
        self._bytes = 0

    def missing(self, key: str, doc_ids: Sequence[str]) -> list[str]:
        places = self._features[key][0] if key in self._features else {}
        return [d for d in dict.fromkeys(doc_ids) if d not in places]

    def rows(self, key: str, doc_ids: Sequence[str]) -> Features:
        self._features.move_to_end(key)
        places, values = self._features[key]
        return values[[places[d] for d in doc_ids]]

    def add(self, key: str, doc_ids: Sequence[str], fresh: Features) -> None:
        places, values = self._features.get(key, ({}, fresh[:0]))
        places.update({d: len(values) + row for row, d in enumerate(doc_ids)})
        self._features[key] = places, np.concatenate([values, fresh])
        self._bytes += fresh.nbytes + _PLACE * len(doc_ids)

    def trim(self) -> None:
        while self._bytes > _REMEMBERED and len(self._features) > 1:
            places, values = self._features.popitem(last=False)[1]
            self._bytes -= values.nbytes + _PLACE * len(places)


_memories: WeakKeyDictionary[ForwardIndex | GivenTexts, dict[str, _Memory]] = WeakKeyDictionary()
"""Per forward index, which stands for the collection's documents, or texts that are scored; and
per source of vectors."""


def forget_features() -> None:
    """Let all features be computed anew: to measure their time, or as no topic comes again."""
    _memories.clear()


class Calculator:
    """Opens groups of features, computes them, and saves what they learned.

    `weigh_first_stage` says whether a first stage's score is among the features of groups.
    """

    weigh_first_stage = staticmethod(weigh_first_stage)
    contributions = staticmethod(contributions)

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        by_vectors = _memories.setdefault(given_texts() or resources.forward_index(), {})
        source = getattr(resources, "source", None)  # checkpoints bring their vectors
        vectors = "" if source is None else fingerprint(source.describe())
        self._memory = by_vectors.setdefault(vectors, _Memory())

    def compute(self, group: Group, batch: Batch) -> list[Features]:
        """Features of a group for a batch of topics."""
        keys = [_key(group.mark, topic) for topic, _ in batch]
        missing: dict[str, tuple[Topic, list[str]]] = {}
        for key, (topic, documents) in zip(keys, batch, strict=True):
            new_ids = self._memory.missing(key, documents.ids)
            if new_ids:
                doc_ids = missing[key][1] if key in missing else []
                missing[key] = topic, list(dict.fromkeys([*doc_ids, *new_ids]))
        # The batch's documents may have their texts read already.
        documents_by_ids = {documents.ids: documents for _, documents in reversed(batch)}
        requests = [
            (topic, documents_by_ids.get(tuple(ids)) or self._resources.documents(ids))
            for topic, ids in missing.values()
        ]
        fresh = group.checked(requests) if requests else []
        for (key, (_, ids)), values in zip(missing.items(), fresh, strict=True):
            self._memory.add(key, ids, values)
        none = np.empty((0, len(group.columns)), dtype=np.float32)
        features = [
            self._memory.rows(key, documents.ids) if len(documents) else none
            for key, (_, documents) in zip(keys, batch, strict=True)
        ]
        self._memory.trim()
        return features

    def _compute(self, group: Group, topics: Topics) -> list[Features]:
        return self.compute(group, [(topic, self._resources.documents(d)) for topic, d in topics])

    def compute_all(self, group: Group, topics: Topics) -> list[Features]:
        """Features of a group for many topics; they are kept in the cache.

        Workers compute those of a group that does not learn.
        """
        mark = hashlib.sha256()
        for topic, ids in topics:
            mark.update(fingerprint({"topic": _key("", topic), "ids": list(ids)}).encode())

        def build(folder: Path) -> None:
            features: list[Features] = []
            with self._resources.progress(
                f"computing {group.name} features", len(topics), "topics"
            ) as advance:
                size = _DOCUMENTS_AT_ONCE
                batches = [*batched_by_size(topics, lambda pair: len(pair[1]), size)]
                if (worker_group := sent_group(group, self._resources)) is not None:
                    computed = ordered_map(worker_group.compute, batches, fewest=2)
                else:
                    computed = map(partial(self._compute, group), batches)
                for batch, values in zip(batches, computed, strict=True):
                    features += values
                    advance(len(batch))
            none = np.empty((0, len(group.columns)), dtype=np.float32)
            np.save(folder / "features.npy", np.concatenate([*features, none]))

        depends_on = {
            **group.described,
            "irplatform": __version__,  # which stands for the code of our groups
            "topics": mark.hexdigest(),
        }
        place = self._resources.artifact("features", depends_on, build)
        values: Features = np.load(place / "features.npy", mmap_mode="r", allow_pickle=False)
        ends = accumulate(len(ids) for _, ids in topics)
        return [values[end - len(ids) : end] for end, (_, ids) in zip(ends, topics, strict=True)]

    def remember(self, group: Group, topics: Topics) -> None:
        """Take features of many topics from the cache, or compute them, for `compute` to find."""
        for (topic, ids), values in zip(topics, self.compute_all(group, topics), strict=True):
            key = _key(group.mark, topic)
            new_ids = set(self._memory.missing(key, ids))
            if rows := [row for row, doc_id in enumerate(ids) if doc_id in new_ids]:
                self._memory.add(key, [ids[row] for row in rows], values[rows])
        self._memory.trim()

    def open(
        self,
        names: Sequence[str],
        settings: Mapping[str, Mapping[str, Any]],
        topics: Sequence[Topic],
    ) -> list[Group]:
        """Prepare the groups for which topics have everything; a notice says what others lack."""
        return applying(open_groups(names, settings, self._resources), topics, self._resources)

    def out_of_fold(
        self, group: Group, data: TrainingData, folds: int, apart: str, *, hide_judged: bool = True
    ) -> Group:
        """Return a group that learned from the topics of a system, see `Folding`."""
        return cross_fitted(group, data, self._resources, Folding(folds, apart, hide_judged))

    @staticmethod
    def save(groups: Sequence[Group], path: Path) -> None:
        """Write names, settings and features of groups to a file, what they learned beside it."""
        description = {
            "groups": [
                {
                    "name": group.name,
                    "settings": dict(group.settings),
                    "features": group.columns,
                    "learned": group.saved,
                    "remembers": group.remembers,
                    "variant": group.variant,
                }
                for group in groups
            ]
        }
        path.write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
        for group in groups:
            if isinstance(group.instance, TrainableFeatureGroup):
                place = path.parent / "groups" / group.label
                place.mkdir(parents=True)
                group.save(group.instance, place)

    def load(self, path: Path) -> list[Group]:
        """Read what `save` wrote; InputError if a group has other features now."""
        from irplatform.registry.loading import registry

        try:
            names = ("settings", "learned", "remembers", "variant")
            saved = [
                (entry["name"], tuple(entry["features"]), {name: entry[name] for name in names})
                for entry in read_own_json(path)["groups"]
            ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                "this does not say which features were learned from. Train the model again.",
                path=path,
            ) from error
        groups = []
        for name, columns, facts in saved:
            registration = registry().feature_group(name)
            instance = self._resources.feature_group(name, facts["settings"])
            group = Group(registration, instance=instance, saved=facts["learned"], **facts)
            if isinstance(group.instance, TrainableFeatureGroup):
                with group.plugin_call("loading"):
                    group.instance.load(path.parent / "groups" / group.label)
            if group.columns != columns:
                raise InputError(
                    f"this model was trained with other features of group '{group.name}': its "
                    "package or a knowledge base has changed since. Train the model again.",
                    path=path,
                )
            groups.append(group)
        return groups


def _key(mark: str, topic: Topic) -> str:
    return fingerprint({"group": mark, "topic": topic.describe()})
