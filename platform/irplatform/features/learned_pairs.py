"""Which pairs of texts systems learn from: whoever evaluates must know what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.features.named_checkpoints import Finder
    from irplatform.plugin import TextPair, Topic


def pairs_of_groups(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]], topics: Sequence[Topic]
) -> Iterator[TextPair]:
    """The pairs that groups of features learn from; it belongs in a reranker's `pairs_learned`.

    Args:
        names: of groups.
        settings: their options, by name.
        topics: those that are learned from, or that nothing may be learned of.
    """
    from irplatform.registry import registry

    return _pairs(registry().feature_group, names, settings, topics)


def pairs_of_rerankers(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]], topics: Sequence[Topic]
) -> Iterator[TextPair]:
    """The pairs that rerankers learn from; it belongs in the `pairs_learned` of who trains these.

    Args:
        names: of rerankers.
        settings: their options, by name.
        topics: see `pairs_of_groups`.
    """
    from irplatform.registry import registry

    return _pairs(registry().reranker, names, settings, topics)


def _pairs(
    find: Finder,
    names: Sequence[str],
    settings: Mapping[str, Mapping[str, Any]],
    topics: Sequence[Topic],
) -> Iterator[TextPair]:
    for name in names:
        registration = find(name)
        yield from registration.pairs_learned(registration.options(settings.get(name, {})), topics)
