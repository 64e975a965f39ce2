"""Parts of all built judgments: the split into train, dev and test, and the searched collection.

A query of a click log, or a citing article with all its sentences, goes to a split by a hash of its
name and the seed. It stays there when more are added, and two machines agree on it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.collections.beir import CORPUS_REFERENCE
from irplatform.collections.names import aliases, expand, is_path
from irplatform.errors import InputError
from irplatform.registry.loading import registry
from irplatform.system.digests import number_of
from irplatform.system.formats import toml_value

if TYPE_CHECKING:
    from pathlib import Path

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Shares:
    """The shares of the splits, in whole percent."""

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
        """Shares written as `60/20/20`."""
        parts = text.split("/")
        if len(parts) != 3 or not all(part.strip().isdecimal() for part in parts):
            raise InputError(f"write the shares of train, dev and test as 60/20/20, not '{text}'.")
        return cls(*map(int, parts))


def split_of(name: str, shares: Shares, seed: int) -> str:
    """The split of something with this name: one of `SPLITS`."""
    percentile = number_of(f"{seed}\n{name}") / 2**64 * 100
    if percentile < shares.train:
        return "train"
    return "dev" if percentile < shares.train + shares.dev else "test"


def write_reference(collection: str, folder: Path, *, seen_from: Path) -> None:
    """Let the topics of a folder search the documents of a collection.

    Args:
        collection: as the user named it. A path is written relative to the folder, so that both
            can be moved together.
        folder: where the file is written.
        seen_from: the folder in which the file will lie in the end.
    """
    names = {*registry().collections, *aliases()}
    if collection.partition(":")[0] not in names and is_path(collection):
        source = expand(collection).absolute()
        relative = os.path.relpath(source.parent.resolve() / source.name, seen_from.resolve())
        collection = relative if relative.startswith(".") else f"./{relative}"
    content = f"collection = {toml_value(collection)}\n"
    (folder / CORPUS_REFERENCE).write_text(content, encoding="utf-8")
