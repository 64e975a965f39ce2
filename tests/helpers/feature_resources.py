"""Small resources that also make feature groups and rerankers, from classes given by name."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from small import PLUGIN, SmallResources, small_resources

from irplatform.files.digests import fingerprint
from irplatform.registry.loading import registry
from irplatform.registry.registration import Registration

if TYPE_CHECKING:
    from pathlib import Path


_registered: set[str] = set()


@dataclass
class FeatureResources(SmallResources):
    """The harness's resources for learning to rank."""

    folder: Path = None  # type: ignore[assignment]
    groups: dict[str, Any] = field(default_factory=dict)
    rerankers: dict[str, Any] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def __post_init__(self):
        for name in self.groups.keys() - registry().features.keys():
            its = Registration(name, "feature group", self.groups[name], {}, PLUGIN)
            registry().features[name] = its
            _registered.add(name)

    def feature_group(self, name, settings=None):
        return self._system(self.groups[name], settings)

    def reranker(self, name, settings=None):
        return self._system(self.rerankers[name], settings)

    def _system(self, kind, settings):
        system = kind(kind.Options(**(settings or {})))
        system.prepare(self)
        return system

    def artifact(self, kind, depends_on, build, **_options):
        place = self.folder / f"{kind}-{fingerprint(json.loads(json.dumps(depends_on)))}"
        if not place.exists():
            place.mkdir(parents=True)
            build(place)
        return place

    def notice(self, message):
        self.told.append(message)


def feature_resources(folder, texts, vectors=None, *, groups=None, rerankers=None):
    """Resources with a forward index of texts, word vectors, and these groups and rerankers."""
    base = small_resources(folder / "forward", texts, vectors or {})
    return FeatureResources(
        texts, base.index, base.word_vectors, folder=folder / "artifacts",
        groups=groups or {}, rerankers=rerankers or {},
    )  # fmt: skip


def unregister_groups():
    """Take back the names that groups were given here."""
    for name in _registered:
        registry().features.pop(name, None)
    _registered.clear()
