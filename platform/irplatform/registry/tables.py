"""What plugins register, by kind and name: the tables of one plugin, and those of all."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from irplatform.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from irplatform.collections import Collection
    from irplatform.knowledge import Format
    from irplatform.plugin import FeatureGroup, Reranker, Retriever
    from irplatform.registry.registration import Plugin, Registration

_KINDS = {
    "rerankers": "reranker",
    "retrievers": "retriever",
    "features": "feature group",
    "collections": "collection",
    "measures": "measure",
    "knowledge": "knowledge format",
}
"""The tables whose names belong to whoever came first, and what a name in each of them names."""


@dataclass
class Tables:
    """What was registered, by kind and name.

    Attributes:
        rerankers: rerankers.
        retrievers: first-stage retrievers.
        features: groups of features.
        collections: functions that load a collection.
        collection_titles: what each of these collections is, in a few words.
        measures: functions of qrels and a run.
        knowledge: functions that return a format of knowledge bases.
        results: files of results to reproduce, and who brought each.
        owners: who registered what, by kind and name: "reranker delta".
    """

    rerankers: dict[str, Registration[Reranker]] = field(default_factory=dict)
    retrievers: dict[str, Registration[Retriever]] = field(default_factory=dict)
    features: dict[str, Registration[FeatureGroup]] = field(default_factory=dict)
    collections: dict[str, Callable[[], Collection]] = field(default_factory=dict)
    collection_titles: dict[str, str] = field(default_factory=dict)
    measures: dict[str, Callable[..., Mapping[str, float]]] = field(default_factory=dict)
    knowledge: dict[str, Callable[[], Format]] = field(default_factory=dict)
    results: dict[Path, Plugin] = field(default_factory=dict)
    owners: dict[str, Plugin] = field(default_factory=dict)

    def add(self, others: Tables) -> None:
        """Add all that others hold.

        Raises:
            PluginError: a name is taken; nothing was added.
        """
        for table, kind in _KINDS.items():
            entries = getattr(self, table)
            for name in getattr(others, table):
                if name in entries:
                    owner = self.owners[f"{kind} {name}"]
                    raise PluginError(f"{kind} '{name}' is registered by {owner} already")
        for table in (each.name for each in fields(Tables)):
            getattr(self, table).update(getattr(others, table))
