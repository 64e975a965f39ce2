"""What a reranker that reads groups of features says of itself without opening them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.plugin import FeatureGroup


def dependencies(names: Sequence[str]) -> Mapping[str, object]:
    """The installed knowledge bases, where one of some groups reads them; else nothing.

    Args:
        names: of groups.

    Raises:
        InputError: there is no such group.
    """
    from irplatform.knowledge import installed, open_knowledge

    bases = list(installed()) if any(g.reads_knowledge for g in _known(names)) else []
    return {"knowledge": open_knowledge(bases).fingerprint} if bases else {}


def hold_first_stage(names: Sequence[str]) -> bool:
    """Whether a first stage's score is among the features of some groups."""
    return any(group.holds_first_stage for group in _known(names))


def _known(names: Sequence[str]) -> list[type[FeatureGroup]]:
    from irplatform.registry import registry

    return [registry().feature_group(name).system for name in names]
