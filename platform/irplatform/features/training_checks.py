"""Whether systems that learn have what they learn from, asked through those that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.features.named_checkpoints import Finder


def check_training_of_groups(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]]
) -> None:
    """Ask the groups that learn; it belongs in a reranker's `check_training`.

    Args:
        names: of groups.
        settings: their options, by name.

    Raises:
        InputError: what one of them learns from beside topics is not there.
    """
    from irplatform.registry import registry

    _check(registry().feature_group, names, settings)


def check_training_of_rerankers(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]]
) -> None:
    """Ask the rerankers that learn; it belongs in the `check_training` of who trains these.

    Args:
        names: of rerankers.
        settings: their options, by name.

    Raises:
        InputError: what one of them learns from beside topics is not there.
    """
    from irplatform.registry import registry

    _check(registry().reranker, names, settings)


def _check(find: Finder, names: Sequence[str], settings: Mapping[str, Mapping[str, Any]]) -> None:
    for name in names:
        registration = find(name)
        registration.check_training(registration.options(settings.get(name, {})))
