"""Files of groups of features: their names, settings and features, and what they learned."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.features.groups import Group
from irplatform.json_io import read_own_json
from irplatform.plugin import TrainableFeatureGroup

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.plugin import Resources


def save_groups(groups: Sequence[Group], path: Path) -> None:
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
        if isinstance(group.held, TrainableFeatureGroup):
            place = path.parent / "groups" / group.label
            place.mkdir(parents=True)
            group.save(group.held, place)


def load_groups(path: Path, resources: Resources) -> list[Group]:
    """Read what `save_groups` wrote.

    Raises:
        InputError: files are damaged, or a group has other features now.
    """
    from irplatform.registry import registry

    try:
        entries = read_own_json(path)["groups"]
        saved = [
            (
                g["name"],
                {fact: g[fact] for fact in ("settings", "remembers", "variant")},
                g["learned"],
                tuple(g["features"]),
            )
            for g in entries
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            "this does not say which features were learned from: it is damaged, or another version "
            "wrote it. Train the model again.",
            path=path,
        ) from error
    groups = []
    for name, facts, learned, columns in saved:
        registration = registry().feature_group(name)
        held = resources.feature_group(name, facts["settings"])
        group = Group(registration, held=held, learned=learned, saved=learned, **facts)
        if isinstance(group.held, TrainableFeatureGroup):
            with group.plugin_call("loading"):
                group.held.load(path.parent / "groups" / group.label)
        if group.columns != columns:
            raise InputError(
                f"feature group '{group.name}' has other features now than this model was trained "
                "with. Was its package changed, or a knowledge base added, removed or replaced? "
                "Train it again.",
                path=path,
            )
        groups.append(group)
    return groups
