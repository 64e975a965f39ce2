"""The split into train, dev and test, by a hash of a name and a seed.

What is split is a query of a click log or a citing article with all its sentences. Its split
depends on its name and the seed alone: it stays where it is when more are added, and two machines
agree on it without talking.
"""

from __future__ import annotations

from dataclasses import dataclass

from irplatform.errors import InputError
from irplatform.storage import number_of

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Shares:
    """How much each split gets, in whole percent.

    Raises:
        InputError: they do not add up to 100, or one is negative.
    """

    train: int
    dev: int
    test: int

    def __post_init__(self) -> None:
        shares = (self.train, self.dev, self.test)
        if min(shares) < 0 or sum(shares) != 100:
            raise InputError(
                "the shares of train, dev and test are whole percentages that add up to 100, "
                f"not {'/'.join(map(str, shares))}."
            )

    @classmethod
    def parse(cls, text: str) -> Shares:
        """Shares written as `60/20/20`.

        Raises:
            InputError: they are not three whole numbers that add up to 100.
        """
        parts = text.split("/")
        if len(parts) != 3 or not all(part.strip().isdecimal() for part in parts):
            raise InputError(f"write the shares of train, dev and test as 60/20/20, not '{text}'.")
        return cls(*map(int, parts))


def split_of(name: str, shares: Shares, seed: int) -> str:
    """The split that something of this name falls into: one of `SPLITS`."""
    percentile = number_of(f"{seed}\n{name}") / 2**64 * 100
    if percentile < shares.train:
        return "train"
    return "dev" if percentile < shares.train + shares.dev else "test"
