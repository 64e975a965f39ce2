"""What a user asks for when a pool is built."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from irplatform import cache
from irplatform.collections.trec_pm_pool.sources import YEARS, Given, pool_name

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class PoolSettings:
    """What is built, from what, and where.

    Attributes:
        year: 2017 or 2018.
        out: the folder to make; None is one in the cache.
        email: sent to NCBI with every call.
        rate: calls a second, instead of NCBI's limit.
        given: files of this year, instead of downloads.
        partner: files of the year that trains for this one.
        alone: leave that year out. So it is, too, where only files of this year are given.
        extra_abstracts: the archive of conference abstracts, or the folder that it unpacks to.
        download_extra: get that archive where it is not given.
    """

    year: int
    out: Path | None = None
    email: str | None = None
    rate: float | None = None
    given: Given = field(default_factory=Given)
    partner: Given = field(default_factory=Given)
    alone: bool = False
    extra_abstracts: Path | None = None
    download_extra: bool = True

    @property
    def name(self) -> str:
        """Of the collection."""
        return pool_name(self.year)

    @property
    def folder(self) -> Path:
        """Where the collection will be."""
        return (self.out or cache.home() / "collections" / self.name).absolute()

    @property
    def years(self) -> dict[int, Given]:
        """The years whose judged documents are fetched, this one first."""
        if self.alone or (self.given and not self.partner):
            return {self.year: self.given}
        (other,) = (year for year in YEARS if year != self.year)
        return {self.year: self.given, other: self.partner}
