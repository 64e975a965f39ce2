"""What a method of fusion is.

A document's score is the sum of what each run adds to it, a method's formula. Modules of methods
import no numpy, so that the command line can name them at once; `runs.fuse` does the work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from irplatform.runs.run import Values

RegisterFusion: TypeAlias = Callable[["type[FusionMethod]"], None]
"""What a file registers its method with."""


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a run for a topic.

    Attributes:
        ranks: from 1, as floats.
        scores: of each result, best first.
        documents: the number of documents that any of the runs found.
    """

    ranks: Values
    scores: Values
    documents: int


@dataclass(frozen=True, kw_only=True)
class FusionMethod(ABC):
    """A method of fusion with its parameters and weights.

    Attributes:
        name: what the user calls it.
        summary: the sum that is a document's score, for help and documentation.
        citation: the paper.
        place: of two methods that are equally good on training topics, the one with the lower place
            is chosen.
        multiplies: whether the sum is multiplied by the weights of the runs that found a document.
        needs_all: whether a run of weight 0 changes what the others add.
        weights: one per run, 0 or more; empty for equal ones.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    citation: ClassVar[str]
    place: ClassVar[int]
    multiplies: ClassVar[bool] = False
    needs_all: ClassVar[bool] = False
    weights: tuple[float, ...] = ()

    @abstractmethod
    def part(self, results: Results, weight: float) -> tuple[Values, float]:
        """Return what a run of a weight adds to each of its results, and to each other document."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, without the weights."""
        names = (field.name for field in fields(self) if field.name != "weights")
        return {name: getattr(self, name) for name in names}

    @property
    def finds_all(self) -> bool:
        """Whether each run counts as one that found every document."""
        return False

    @classmethod
    def tried(cls) -> Sequence[Self]:
        """Return the method with the parameters that are tried beside other methods."""
        return (cls(),)

    @classmethod
    def tried_alone(cls) -> Sequence[Self]:
        """Return the method with the parameters that are tried where it is the only one."""
        return cls.tried()
