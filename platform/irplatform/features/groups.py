"""Groups of features under their names: opened, and their answers checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irplatform.data import Documents, Topic
from irplatform.errors import PluginError, enumeration, quoted
from irplatform.plugin.features import FeatureGroup, TrainableFeatureGroup
from irplatform.registry.dependencies import (
    FEATURES_FORMAT,
    ChosenSystem,
    check_names,
    knowledge_mark,
)
from irplatform.registry.plugin_answers import json_mapping, numbers, text_answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from irplatform.plugin.resources import Resources
    from irplatform.registry.registration import Registration

Features = npt.NDArray[np.float32]
"""[documents, features]."""
Batch = list[tuple[Topic, Documents]]
LARGEST = 20
"""Features that are listed one by one."""


@dataclass(frozen=True)
class Group:
    """A group of features under its name.

    Attributes:
        settings: its options, where they are not the defaults.
        instance: the prepared group.
        learned: stands for what it learned, or "".
        saved: the same for what `Calculator.save` keeps of it.
        remembers: True if its features show what other topics say of a document.
        variant: distinguishes it from another group of the same name.
    """

    registration: Registration[FeatureGroup]
    settings: Mapping[str, Any]
    instance: FeatureGroup
    learned: str = ""
    saved: str = ""
    remembers: bool = False
    variant: str = ""

    @property
    def name(self) -> str:
        """As it was registered."""
        return self.registration.name

    @property
    def learns(self) -> bool:
        """Whether its features are learned from judgments."""
        return isinstance(self.instance, TrainableFeatureGroup)

    @property
    def label(self) -> str:
        """Its name, with the variant."""
        return f"{self.name}-{self.variant}" if self.variant else self.name

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Its features' names; PluginError unless these are distinct texts."""
        with self.plugin_call("naming its features"):
            answer = self.instance.names()
            names = tuple(answer)
        if isinstance(answer, str) or not all(isinstance(name, str) for name in names):
            raise PluginError(
                f"{self.full_title} returned {quoted(answer)} from names(); a tuple of names is "
                "needed."
            )
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise PluginError(f"{self.full_title} has two features '{twice}'.")
        return names

    @property
    def columns(self) -> tuple[str, ...]:
        """Its features' names, each after the group's."""
        return tuple(f"{self.label}.{name}" for name in self.names)

    @property
    def full_title(self) -> str:
        """The group and its plugin."""
        return self.registration.full_title

    def plugin_call(self, doing: str) -> AbstractContextManager[None]:
        """Run code of the group; errors name the plugin and the place."""
        return self.registration.plugin_call(doing)

    def save(self, instance: TrainableFeatureGroup, folder: Path) -> None:
        """Let an instance of the group save what it learned in an empty folder."""
        self.registration.save(instance, folder)

    @cached_property
    def described(self) -> dict[str, Any]:
        """The dependencies of its features, besides documents and topics."""
        choice = ChosenSystem(self.registration, self.instance.options)
        depends_on = choice.describe_reads()
        description = self.registration.describe(self.instance.options)
        with self.plugin_call("saying what it was prepared with"):
            answer = self.instance.prepared_with()
        return {
            "group": self.name,
            "options": self.instance.options.model_dump(mode="json"),
            "features": list(self.names),
            "of": {
                **knowledge_mark(choice.knowledge()),
                **json_mapping(self.full_title, "prepared_with", answer),
            },
            **({"names": depends_on} if depends_on else {}),
            "format": FEATURES_FORMAT,
            # What identifies third-party code, and the files that its options name.
            **{name: description[name] for name in ("source", "files") if name in description},
            **({"learned": self.learned} if self.learned else {}),
        }

    @cached_property
    def mark(self) -> str:
        """The description as one string."""
        return json.dumps(self.described, sort_keys=True)

    def lacking(self, topics: Sequence[Topic]) -> str:
        """The topics' lack that prevents its features, or ""."""
        with self.plugin_call("reading topics"):
            answer = self.instance.lacks(topics)
        return text_answer(self.full_title, "lacks", answer)

    def lacking_for(self, topics: Sequence[Topic]) -> str:
        """Why it has no features for these topics, or ""."""
        return self.lacking(topics) or ("" if self.names else "there are none with these settings.")

    def checked(self, batch: Batch) -> list[Features]:
        """Its features for a batch of topics; PluginError for other shapes or infinite numbers."""
        with self.plugin_call("computing"):
            computed = list(self.instance.compute_batch([*batch]))
        if len(computed) != len(batch):
            raise PluginError(
                f"{self.full_title} returned {len(computed)} arrays for {len(batch)} topics."
            )
        features = []
        for (topic, documents), returned in zip(batch, computed, strict=True):
            values: Features = numbers(self.full_title, topic.id, returned, np.float32)
            shape = (len(documents), len(self.names))
            if values.shape != shape:
                raise PluginError(
                    f"{self.full_title} returned an array of shape {values.shape} for "
                    f"topic {topic.id}; {shape} is needed."
                )
            if not np.isfinite(values).all():
                column = int(np.argwhere(~np.isfinite(values))[0][1])
                raise PluginError(
                    f"{self.full_title}: feature '{self.names[column]}' of topic {topic.id} is not "
                    "finite."
                )
            features.append(values)
        return features


def open_groups(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]], resources: Resources
) -> list[Group]:
    """Prepare groups of features; InputError for unknown or repeated names and stray settings."""
    from irplatform.registry.loading import registry

    check_names(names, settings, among="the features")
    groups = []
    for name in names:
        instance = resources.feature_group(name, settings.get(name, {}))
        registration = registry().feature_group(name)
        remembers = registration.traits(instance.options).remembers_documents
        groups.append(Group(registration, settings.get(name, {}), instance, remembers=remembers))
    return groups


def weigh_first_stage(names: Sequence[str]) -> bool:
    """Whether a first stage's score is among the features of some groups."""
    from irplatform.registry.loading import registry

    groups = (registry().feature_group(name) for name in names)
    return any(group.traits(group.options({})).weighs_first_stage for group in groups)


def applying(groups: Sequence[Group], topics: Sequence[Topic], resources: Resources) -> list[Group]:
    """Return the groups for which topics have everything; a notice says what the others lack."""
    reasons: dict[str, list[str]] = {}
    for group in groups:
        reasons.setdefault(group.lacking_for(topics), []).append(group.name)
    sentences = [
        f"features {enumeration([repr(name) for name in names])} are left out: {reason}"
        for reason, names in reasons.items()
        if reason
    ]
    if sentences:
        resources.notice(" ".join([sentences[0], *(f"F{line[1:]}" for line in sentences[1:])]))
    return [group for group in groups if group.name in reasons.get("", ())]


def contributions(
    groups: Sequence[Sequence[str]],
    values: npt.NDArray[np.float32],
    adds: npt.NDArray[np.floating[Any]],
) -> dict[str, Any]:
    """The part of one document's score that features make, as JSON: by group, and the largest.

    `groups` are the names of each group's features; values and what each adds are [features].
    """
    names = [name for group in groups for name in group]
    order = np.argsort(-np.abs(adds), kind="stable")
    ends = np.cumsum([0, *map(len, groups)])
    places, rest = order[:LARGEST], order[LARGEST:]
    parts: dict[str, Any] = {
        "groups": [
            {
                "group": group[0].partition(".")[0],
                "features": len(group),
                "adds": float(adds[start:end].sum()),
            }
            for group, start, end in zip(groups, ends[:-1], ends[1:], strict=True)
        ],
        "features": [
            {"feature": names[place], "value": float(values[place]), "adds": float(adds[place])}
            for place in places
        ],
    }
    if len(rest):
        parts["other_features"] = {"features": len(rest), "adds": float(adds[rest].sum())}
    return parts
