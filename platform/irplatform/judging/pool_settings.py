"""The settings of a pool of runs, each declared once."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.settings import OUTPUT, check_values, documented, setting
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

POOLED = "What is pooled"
FORECAST = "What it costs and decides"
DEPTH, STRATIFIED, FRONT, WORTH = "depth", "stratified", "move-to-front", "worth"
ADAPTIVE = (FRONT, WORTH)
"""Methods that learn from judgments, in rounds."""
METHODS = (DEPTH, STRATIFIED, FRONT, WORTH, "rrf", "rbp")
STRATA = ("10:1", "100:0.2")
_SHALLOW, _DEEP = 20, 100
_ROUNDS = 10


@documented
@dataclass(frozen=True)
class PoolSettings:
    """What a pool of runs can be told.

    Raises:
        InputError: a value is none of those that its setting takes, or has no effect beside others.
    """

    method: str = setting(
        DEPTH,
        "depth: the first documents of every run. stratified: a sample of strata by rank, for "
        "infNDCG and infAP. move-to-front: the runs that keep bringing relevant documents, in "
        "rounds. worth: what tells the runs apart, in rounds. rrf and rbp: documents that the runs "
        "rank high together.",
        group=POOLED,
        takers="pool",
        choices=METHODS,
    )
    depth: int | None = setting(
        None,
        "Documents of a topic of each run that can be pooled; default: 20 for worth and for depth "
        "without a budget, else 100.",
        group=POOLED,
        takers="pool",
        least=1,
    )
    budget: int | None = setting(
        None,
        "Documents to judge, of all topics together; default: all that are pooled.",
        group=POOLED,
        takers="pool",
        least=1,
    )
    strata: Sequence[str] = setting(
        (),
        "Strata of a stratified sample: down to which rank, and which share of its documents is "
        "judged; default: 10:1,100:0.2, the first ten ranks of every run whole, and a fifth of the "
        "rest down to 100. A budget scales the shares.",
        group=POOLED,
        takers="pool",
        metavar="RANK:SHARE,…",
    )
    batch: int | None = setting(
        None,
        "Documents of a round of move-to-front and worth; default: a tenth of the budget.",
        group=POOLED,
        takers="pool",
        least=1,
    )
    judged: Path | None = setting(
        None,
        "A file of judgments that there are already, as TREC's or as written here. Their "
        "documents are left out, and methods that learn learn from them. Without runs: what the "
        "next round of POOL learns from.",
        group=POOLED,
        takers="pool",
        keyword="AnyQrels | None",
    )
    seed: int = setting(
        42,
        "Random seed of the order of judging, and of samples.",
        group=POOLED,
        takers="pool",
        least=0,
        most=2**32 - 1,
    )
    rate: float = setting(
        2.0,
        "Documents that a person judges in a minute, an assumption.",
        group=FORECAST,
        takers="pool",
    )
    deviation: float = setting(
        0.1,
        "Standard deviation over topics of the difference of two systems' nDCG@20, an assumption "
        "where no judgments tell it.",
        group=FORECAST,
        takers="pool",
    )
    plan: bool = setting(
        False,
        "Say what the pool would cost and decide; write nothing.",
        group=OUTPUT,
        takers="pool",
    )

    def __post_init__(self) -> None:
        check_values(self)
        if self.has_rounds and self.budget is None:
            raise InputError(
                f"{option('method', self.method)} spreads a budget: give {option('budget', 'N')}."
            )
        if self.batch is not None and not self.has_rounds:
            raise InputError(
                f"{option('batch')} is for {' and '.join(ADAPTIVE)}, which have rounds."
            )
        if self.method == STRATIFIED and self.depth is not None:
            raise InputError(
                f"{option('depth')} has no effect with {option('strata')}, which have ranks."
            )
        if self.strata and self.method != STRATIFIED:
            raise InputError(f"{option('strata')} is for {option('method', STRATIFIED)}.")
        for name in ("rate", "deviation"):
            if not getattr(self, name) > 0 or not isfinite(getattr(self, name)):
                raise InputError(f"{option(name)} must be a number above 0.")
        self.read_strata()

    @property
    def has_rounds(self) -> bool:
        """Whether the method learns from judgments."""
        return self.method in ADAPTIVE

    @property
    def ranks(self) -> int:
        """How many documents of a topic of each run can be pooled."""
        if self.method == STRATIFIED:
            return self.read_strata()[-1][0]
        shallow = self.method == WORTH or (self.method == DEPTH and self.budget is None)
        return self.depth or (_SHALLOW if shallow else _DEEP)

    @property
    def deciding(self) -> dict[str, Any]:
        """The settings that decide which documents are pooled, without those of other methods."""
        chosen: dict[str, Any] = {"depth": self.ranks}
        if self.method == STRATIFIED:
            chosen = {"strata": ",".join(self.strata or STRATA)}
        if self.budget is not None:
            chosen["budget"] = self.budget
            if self.has_rounds:
                chosen["batch"] = self.batch or -(-self.budget // _ROUNDS)
        return chosen

    def read_strata(self) -> list[tuple[int, float]]:
        """Return the last rank of each stratum and its share, best ranks first.

        Raises:
            InputError: a stratum is ill-formed, or ranks do not rise.
        """
        strata = []
        for text in self.strata or STRATA:
            rank, _, share = str(text).partition(":")
            try:
                strata.append((int(rank), float(share)))
            except ValueError as error:
                raise InputError(
                    f"{option('strata')} has '{text}'; a stratum is RANK:SHARE, such as 100:0.2."
                ) from error
        ranks = [0, *(rank for rank, _ in strata)]
        if ranks != sorted({*ranks}) or not all(0 < share <= 1 for _, share in strata):
            raise InputError(
                f"{option('strata')}: ranks must rise from 1, and a share is above 0 and at most "
                "1, as in 10:1,100:0.2."
            )
        return strata
