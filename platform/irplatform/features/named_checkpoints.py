"""Which checkpoints systems read scores of: whoever evaluates must know what these learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.registry.answers import folders

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from irplatform.plugin import FeatureGroup, Reranker, Retriever
    from irplatform.registry import Registration

    Finder = Callable[
        [str], Registration[FeatureGroup] | Registration[Reranker] | Registration[Retriever]
    ]


def checkpoints_of_groups(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]]
) -> tuple[Path, ...]:
    """The checkpoints that groups of features read; it belongs in a reranker's `checkpoints`.

    Args:
        names: of groups.
        settings: their options, by name.
    """
    from irplatform.registry import registry

    return _checkpoints(registry().feature_group, names, settings)


def checkpoints_of_rerankers(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]]
) -> tuple[Path, ...]:
    """The checkpoints that rerankers read; it belongs in the `checkpoints` of who reads these.

    Args:
        names: of rerankers.
        settings: their options, by name.
    """
    from irplatform.registry import registry

    return _checkpoints(registry().reranker, names, settings)


def checkpoints_of_retrievers(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]]
) -> tuple[Path, ...]:
    """The checkpoints that retrievers search with; it belongs in `checkpoints` of who asks them.

    Args:
        names: of retrievers.
        settings: their options, by name.
    """
    from irplatform.registry import registry

    return _checkpoints(registry().retriever, names, settings)


def _checkpoints(
    find: Finder, names: Sequence[str], settings: Mapping[str, Mapping[str, Any]]
) -> tuple[Path, ...]:
    checkpoints: dict[Path, None] = {}
    for name in names:
        registration = find(name)
        system = registration.create(settings.get(name, {}))
        with registration.at_work("naming the checkpoints that it reads"):
            paths = system.checkpoints()
        checkpoints |= dict.fromkeys(folders(registration.who, paths))
    return tuple(checkpoints)
