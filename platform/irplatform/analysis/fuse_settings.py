"""The settings of a fusion of run files, each declared once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.runs.fusion import fusion_methods, with_parameter
from irplatform.runs.fusion.norms import NORMS
from irplatform.runs.fusion.ranks import Ranks
from irplatform.settings import LEARNING, OUTPUT, check_values, documented, setting
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

METHOD = "Method"
_SUMS = " ".join(f"{name}: {method.summary}." for name, method in fusion_methods().items())
_NORMED = with_parameter("norm")
_LARGEST_K = 1_000_000
"""Beyond it, neighbours' scores are equal in 32 bits."""


@documented
@dataclass(frozen=True)
class FuseSettings:
    """What a fusion of run files can be told.

    Raises:
        InputError: a value is none of those that its setting takes, or has no effect beside others.
    """

    by: str | None = setting(
        None,
        f"What a run adds to the score of a document. {_SUMS} Default: ranks; on training topics "
        "the best.",
        group=METHOD,
        takers="fuse",
        choices=(*fusion_methods(),),
    )
    norm: Any = setting(
        None,
        f"How {' and '.join(_NORMED)} normalize the scores of a topic; zmuv is the z-score; "
        "default: min-max, on training topics the best.",
        group=METHOD,
        takers="fuse",
        choices=NORMS,
    )
    k: float | None = setting(
        None,
        "The k of 1 / (k + rank); a larger one weighs top ranks less; default: 60.",
        group=METHOD,
        takers="fuse",
    )
    weights: Sequence[float] | None = setting(
        None,
        "The weight of each run, such as 4,1; 0 leaves a run out; default: equal weights.",
        group=METHOD,
        takers="fuse",
        metavar="W,…",
    )
    train_on: Any = setting(
        None,
        "A collection, or a file of judgments, whose topics choose method and weights. Without "
        "runs over them, each topic of the runs is fused as the topics of other folds choose.",
        group=LEARNING,
        takers="fuse",
        names="collection",
        keyword="AnyCollection | None",
    )
    train_runs: Sequence[Path] = setting(
        (),
        "Runs of the same systems over the training topics, in the same order.",
        group=LEARNING,
        takers="fuse",
        metavar="RUN,…",
    )
    depth: int = setting(1000, "Documents per topic.", group=OUTPUT, takers="fuse", least=1)
    tag: str = setting(
        "fused", "The run tag, the last column of the file.", group=OUTPUT, takers="fuse"
    )
    force: bool = setting(
        False, "Replace a run that was made with other settings.", group=OUTPUT, takers="fuse"
    )

    def __post_init__(self) -> None:
        check_values(self)
        learns = self.train_on is not None
        method_name = self.by or ("" if learns else Ranks.name)
        if self.k is not None and method_name != Ranks.name:
            cause = option("by", self.by) if self.by else f"{option('train_on')}, which chooses it"
            raise InputError(
                f"{option('k')} has no effect with {cause}: it is a parameter of "
                f"{option('by', Ranks.name)}."
            )
        if self.k is not None and not 0 < self.k <= _LARGEST_K:
            raise InputError(
                f"{option('k')} is {self.k:g}; it must be a number above 0, of at most "
                f"{_LARGEST_K:,}."
            )
        if self.norm is not None and method_name not in ("", *_NORMED):
            raise InputError(
                f"{option('norm')} has no effect with {option('by', method_name)}: it is for "
                f"{' and '.join(_NORMED)}."
            )
        if learns and self.weights is not None:
            raise InputError(
                f"{option('weights')} and {option('train_on')}, which learns them, exclude each "
                "other."
            )
