"""What systems say of themselves that the options of others name, as stacked rerankers.

Whoever reads scores of others has to pass these answers on, or a run does not learn what its scores
come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.plugin import FeatureGroup, Options, Reranker, Retriever, TextPair, Topic
    from irplatform.registry import Registration

    AnyRegistration = Registration[FeatureGroup] | Registration[Reranker] | Registration[Retriever]


@dataclass(frozen=True)
class NamedSystems:
    """Systems with their options."""

    systems: Sequence[tuple[AnyRegistration, Options]]

    def checkpoints(self) -> tuple[Path, ...]:
        """The checkpoints that they read; for the `checkpoints` of who names them."""
        return tuple(
            dict.fromkeys(
                path for system, options in self.systems for path in system.checkpoints(options)
            )
        )

    def pairs_learned(self, topics: Sequence[Topic]) -> Iterator[TextPair]:
        """The pairs of texts that they learn from; for the `pairs_learned` of who names them."""
        for system, options in self.systems:
            yield from system.pairs_learned(options, topics)

    def check_training(self) -> None:
        """Ask those that learn; for the `check_training` of who names them.

        Raises:
            InputError: what one of them learns from beside topics is not there.
        """
        for system, options in self.systems:
            system.check_training(options)


def named_groups(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]] | None = None
) -> NamedSystems:
    """Groups of features by their names, with options by name where they are not the defaults."""
    return named_systems("feature_group", names, settings or {})


def named_systems(
    kind: Literal["feature_group", "reranker", "retriever"],
    names: Sequence[str],
    settings: Mapping[str, Mapping[str, Any]],
) -> NamedSystems:
    """Systems of one kind, likewise."""
    from irplatform.registry import registry

    registrations = map(getattr(registry(), kind), names)
    return NamedSystems([(r, r.options(settings.get(r.name, {}))) for r in registrations])
