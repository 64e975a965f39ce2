"""What a reranker says of itself whose options name groups of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.features.dependencies import dependencies, with_knowledge
from irplatform.features.named import named_groups
from irplatform.plugin import Reranker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.plugin import Options, TextPair, Topic


class ReadsFeatures(Reranker):
    """A further base, named first, of a reranker that reads groups of features.

    Its options have `features`, the groups' names, and `feature_settings`, their options by name.
    """

    def expanding(self, knowledge: tuple[str, ...]) -> Options:
        """The options whose features read the same knowledge bases."""
        settings = with_knowledge(*_groups_and_settings(self.options), knowledge)
        return self.options.model_copy(update={"feature_settings": settings})

    def depends_on(self) -> Mapping[str, object]:
        """What the features depend on: the knowledge bases, where features read them."""
        return dependencies(*_groups_and_settings(self.options))

    def check_training(self) -> None:
        """Ask the groups that learn whether they have what they learn from."""
        named_groups(*_groups_and_settings(self.options)).check_training()

    def checkpoints(self) -> Sequence[Path]:
        """Those whose scores are features."""
        return named_groups(*_groups_and_settings(self.options)).checkpoints()

    def pairs_learned(self, topics: Sequence[Topic]) -> Iterable[TextPair]:
        """Those of its features."""
        return named_groups(*_groups_and_settings(self.options)).pairs_learned(topics)


def _groups_and_settings(options: Any) -> tuple[Sequence[str], Mapping[str, Mapping[str, Any]]]:
    return options.features, options.feature_settings
