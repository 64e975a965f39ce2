"""The settings of a pool of runs, each declared once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.settings import check_values, documented, setting
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

POOLED = "What is pooled"
DEPTH, STRATIFIED, FRONT, WORTH = METHODS = ("depth", "stratified", "move-to-front", "worth")
ADAPTIVE = (FRONT, WORTH)
"""Methods that learn from judgments, in rounds."""
STRATA = ("10:1", "100:0.2")
_SHALLOW, _DEEP = 20, 100
_ROUNDS = 10
_pooled = partial(setting, group=POOLED, takers="pool")


@documented
@dataclass(frozen=True)
class PoolSettings:
    """What a pool of runs can be told.

    Raises:
        InputError: a value is none of those that its setting takes, or has no effect beside others.
    """

    method: str = _pooled(
        DEPTH,
        "depth: the first documents of every run. stratified: a sample of strata by rank, for "
        "infNDCG and infAP. move-to-front: the runs that keep bringing relevant documents, in "
        "rounds. worth: what tells the runs apart, in rounds.",
        choices=METHODS,
    )
    depth: int | None = _pooled(
        None,
        "Documents of a topic of each run that can be pooled; default: 20 for worth and for depth "
        "without a budget, else 100.",
        least=1,
    )
    budget: int | None = _pooled(
        None, "Documents to judge, of all topics together; default: all that are pooled.", least=1
    )
    strata: Sequence[str] = _pooled(
        (),
        "Strata of a stratified sample: down to which rank, and which share of its documents is "
        "judged; default: 10:1,100:0.2, the first ten ranks of every run whole, and a fifth of the "
        "rest down to 100. A budget scales the shares.",
        metavar="RANK:SHARE,…",
    )
    batch: int | None = _pooled(
        None,
        "Documents of a round of move-to-front and worth; default: a tenth of the budget.",
        least=1,
    )
    judged: Path | None = _pooled(  # noqa: RUF009, as it is a `setting`
        None,
        "A file of judgments that there are already, as TREC's or as written here. Their "
        "documents are left out, and methods that learn learn from them. Without runs: what the "
        "next round of POOL learns from.",
        keyword="AnyQrels | None",
    )
    seed: int = _pooled(
        42, "Random seed of the order of judging, and of samples.", least=0, most=2**32 - 1
    )

    def __post_init__(self) -> None:
        check_values(self)
        foreign = {DEPTH: ("strata", "batch"), STRATIFIED: ("depth", "batch")}
        for name in foreign.get(self.method, ("strata",)):
            if getattr(self, name):
                raise InputError(
                    f"{option(name)} has no effect with {option('method', self.method)}."
                )
        if self.method in ADAPTIVE and self.budget is None:
            raise InputError(
                f"{option('method', self.method)} spreads a budget: give {option('budget', 'N')}."
            )
        self.read_strata()

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
        settings: dict[str, Any] = {"depth": self.ranks}
        if self.method == STRATIFIED:
            settings = {"strata": ",".join(self.strata or STRATA)}
        if self.budget is not None:
            settings["budget"] = self.budget
            if self.method in ADAPTIVE:
                settings["batch"] = self.batch or -(-self.budget // _ROUNDS)
        return settings

    def read_strata(self) -> list[tuple[int, float]]:
        """Return the last rank of each stratum and its share, best ranks first.

        Raises:
            InputError: a stratum is ill-formed, or ranks do not rise.
        """
        try:
            pairs = (str(stratum).split(":") for stratum in self.strata or STRATA)
            strata = [(int(rank), float(share)) for rank, share in pairs]
            ranks = [0, *(rank for rank, _ in strata)]
            if ranks != sorted({*ranks}) or not all(0 < share <= 1 for _, share in strata):
                raise ValueError("ranks that do not rise, or shares that are none")
        except ValueError as error:
            raise InputError(
                f"{option('strata', ','.join(map(str, self.strata)))}: a stratum is RANK:SHARE; "
                "ranks rise from 1, and a share is above 0 and at most 1, as in 10:1,100:0.2."
            ) from error
        return strata
