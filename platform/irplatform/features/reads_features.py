"""What a reranker says of itself whose options name groups of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.features.dependencies import dependencies, with_knowledge
from irplatform.features.learned_pairs import pairs_of_groups
from irplatform.features.named_checkpoints import checkpoints_of_groups
from irplatform.features.training_checks import check_training_of_groups
from irplatform.plugin import Reranker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.plugin import Options, TextPair, Topic


class ReadsFeatures(Reranker):
    """A further base, named first, of a reranker that reads groups of features.

    Its options have `features`, the groups' names, and `feature_settings`, their options by name.
    """

    @classmethod
    def expanding(cls, options: Options, knowledge: tuple[str, ...]) -> Options:
        """The options whose features read the same knowledge bases."""
        settings = with_knowledge(*_groups_and_settings(options), knowledge)
        return options.model_copy(update={"feature_settings": settings})

    def depends_on(self) -> Mapping[str, object]:
        """What the features depend on: the knowledge bases, where features read them."""
        return dependencies(*_groups_and_settings(self.options))

    def check_training(self) -> None:
        """Ask the groups that learn whether they have what they learn from."""
        check_training_of_groups(*_groups_and_settings(self.options))

    def checkpoints(self) -> Sequence[Path]:
        """Those whose scores are features."""
        return checkpoints_of_groups(*_groups_and_settings(self.options))

    def pairs_learned(self, topics: Sequence[Topic]) -> Iterable[TextPair]:
        """Those of its features."""
        return pairs_of_groups(*_groups_and_settings(self.options), topics)


def _groups_and_settings(options: Any) -> tuple[Sequence[str], Mapping[str, Mapping[str, Any]]]:
    return options.features, options.feature_settings
