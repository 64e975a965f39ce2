"""The split of queries into train, dev and test, by a hash of the query's words and a seed.

A query's split depends on nothing else: it stays where it is when the log grows, and two machines
agree on it without talking.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from irplatform.errors import InputError

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Shares:
    """How much of the queries each split gets, in percent; the papers': 60, 20, 20."""

    train: int = 60
    dev: int = 20
    test: int = 20

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


def query_id(query: str) -> str:
    """16 hexadecimal digits that stand for a normalized query, the same in every log."""
    return hashlib.blake2b(query.encode(), digest_size=8).hexdigest()


def split_of(query_id: str, shares: Shares, seed: int) -> str:
    """The split that a query falls into."""
    digest = hashlib.blake2b(f"{seed}\n{query_id}".encode(), digest_size=8).digest()
    drawn = int.from_bytes(digest, "big") / 2**64 * 100
    if drawn < shares.train:
        return "train"
    return "dev" if drawn < shares.train + shares.dev else "test"
