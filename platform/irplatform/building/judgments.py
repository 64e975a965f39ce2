"""Parts of all built judgments: the splits, the searched collection, and the report.

A hash of its name and the seed decides the split of a query of a click log, or of a citing article
with all its sentences. It stays there when more are added, and two machines agree on it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from irplatform.collections.beir import CORPUS_REFERENCE
from irplatform.collections.names import aliases, expand, is_path
from irplatform.errors import InputError
from irplatform.files.digests import number_of
from irplatform.files.formats import toml_value
from irplatform.files.writing import write_json
from irplatform.registry.loading import registry

if TYPE_CHECKING:
    from pathlib import Path

Table: TypeAlias = list[tuple[str, ...]]
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
                f"not {self}."
            )

    def __str__(self) -> str:
        return f"{self.train}/{self.dev}/{self.test}"

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

    A path is written relative to `seen_from`, the folder in which the file will lie in the end, so
    that both can be moved together.
    """
    names = {*registry().collections, *aliases()}
    if collection.partition(":")[0] not in names and is_path(collection):
        source = expand(collection).absolute()
        relative = os.path.relpath(source.parent.resolve() / source.name, seen_from.resolve())
        collection = relative if relative.startswith(".") else f"./{relative}"
    content = f"collection = {toml_value(collection)}\n"
    (folder / CORPUS_REFERENCE).write_text(content, encoding="utf-8")


@dataclass(frozen=True)
class Report:
    """The report of a build: one object for programs, and tables for people."""

    record: dict[str, Any]
    tables: list[Table]


def write_report(folder: Path, record: dict[str, Any], *tables: Table) -> Report:
    """Write a report to a folder, and add the table of the splits."""
    write_json(folder / "report.json", record)
    splits = record["splits"]
    rows = [(name, *(f"{number:,}" for number in splits[name].values())) for name in splits]
    header = ("split", *splits[SPLITS[0]])
    return Report(record, [*tables, [header, *rows]])
