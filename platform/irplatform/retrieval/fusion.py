"""How several retrievers become one first stage: by a method of fusion with weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from irplatform.runs.fuse import fuse_weighted
from irplatform.runs.fusion import fusion_method
from irplatform.runs.fusion.ranks import Ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.runs import Run
    from irplatform.runs.fusion.method import FusionMethod

AUTO = "auto"
"""Weights of reciprocal ranks are learned."""


@dataclass(frozen=True)
class Fusion:
    """A method of fusion with the weights of retrievers.

    Attributes:
        method: the method; without weights all retrievers count the same.
        topics: the number of training topics that its weights were chosen on.
    """

    method: FusionMethod = field(default_factory=Ranks)
    topics: int = 0

    @classmethod
    def of(cls, setting: str) -> Fusion:
        """Return what a setting names, with equal weights; `AUTO` begins with reciprocal ranks.

        Raises:
            InputError: there is no such method.
        """
        return cls() if setting == AUTO else cls(fusion_method(setting))

    def fuse(self, runs: Sequence[Run], name: str) -> Run:
        """Fuse runs, given in the order of the weights; one with weight 0 is left out."""
        return fuse_weighted(runs, self.method, name)

    def describe(self) -> dict[str, Any]:
        """For metadata and fingerprints; reciprocal ranks are not named."""
        method = {} if isinstance(self.method, Ranks) else {"method": self.method.name}
        weights = {"weights": self.method.weights}
        return method | weights | self.method.parameters | {"topics": self.topics}
