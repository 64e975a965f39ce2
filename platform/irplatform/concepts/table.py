"""The concepts of several knowledge bases: found by name or id, with their relations.

A folder of memory-mapped arrays, shared by all processes that read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from irplatform.concepts.spelling import word_ends
from irplatform.errors import PlatformError
from irplatform.files.formats import read_own_json
from irplatform.text.arrays import Int64, map_array, write_array
from irplatform.text.string_table import UNKNOWN, StringTable, Texts

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.concepts.spelling import UInt64
    from irplatform.knowledge import ConceptKind

VERSION = 5
"""Of the files, and of the names and their conditions."""

KINDS: tuple[ConceptKind, ...] = ("disease", "gene", "drug", "variant", "other")
"""Kinds by their number in `ConceptTable.kinds`."""

FACTS = "table.json"
_REMEMBERED = 1 << 15
_MARKS_PER_KEY = 32


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of a concept in a text: where it starts and ends, its text, and the concept.

    Its score is 1 if a name matched, or the similarity that the linker found.
    """

    start: int
    end: int
    text: str
    concept: int
    score: float = 1.0


class Candidate(NamedTuple):
    """A concept that has a normalized name.

    `rank` is that of the name's kind (`NAME_RANK`), `condition` when the name counts
    (`ambiguity.Condition`), `ends` where words begin in the normalized name (`word_ends`).
    """

    concept: int
    rank: int
    condition: int
    name: str
    ends: frozenset[int]


class _Preferred(Sequence[str]):
    def __init__(self, table: ConceptTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return self._table.count

    def __getitem__(self, concept: int) -> str:  # type: ignore[override]  # slices are of no use
        return self._table.name(concept)


def bits_of_marks(keys: int) -> int:
    """The number of bits of a hash that `ConceptTable.may_be_names` looks at."""
    return max(16, (_MARKS_PER_KEY * keys - 1).bit_length())


class ConceptTable:
    """Concepts, their names and ids.

    Attributes:
        ids: per concept, its id in the first knowledge base that has it.
        names: per concept, its preferred name.
        sources: of relations: knowledge base, kind, number of edges.
        kinds: per concept, index into `KINDS`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        facts = read_own_json(folder / FACTS)
        if (version := facts.get("version")) != VERSION:
            raise PlatformError(
                f"{folder}: concepts of version {version}, but this one reads {VERSION}. "
                "Run `platform concepts build` again."
            )
        self.count: int = facts["concepts"]
        self.sources: list[tuple[str, str, int]] = [tuple(source) for source in facts["sources"]]
        self.ids: Sequence[str] = StringTable.open(folder, "ids")
        self.names: Sequence[str] = _Preferred(self)
        self.kinds = map_array(folder / "kinds.uint8", np.uint8)
        self._names = open_texts(folder, "names")
        self._name_ranks = map_array(folder / "names.rank.uint8", np.uint8)
        self._first_name = map_array(folder / "names.first.int64", np.int64)
        self._all_ids = StringTable.open(folder, "all-ids")
        self._concept_of_id = map_array(folder / "all-ids.concept.int32", np.int32)
        self._hashes = map_array(folder / "keys.hash.uint64", np.uint64)
        self._marks = map_array(folder / "keys.marks.uint8", np.uint8)
        self._shift = np.uint64(64 - (len(self._marks) * 8 - 1).bit_length())
        self._keys = open_texts(folder, "keys")
        self._first_entry = map_array(folder / "keys.first.int64", np.int64)
        self._concepts = map_array(folder / "entries.concept.int32", np.int32)
        self._ranks = map_array(folder / "entries.rank.uint8", np.uint8)
        self._conditions = map_array(folder / "entries.condition.uint8", np.uint8)
        self._entries = open_texts(folder, "entries")
        self.candidates = lru_cache(maxsize=_REMEMBERED)(self._read_candidates)

    def name(self, concept: int) -> str:
        """A concept's preferred name."""
        return self._names[int(self._first_name[concept])]

    def names_of(self, concept: int) -> list[str]:
        """All names of a concept, the preferred one first."""
        return [text for text, _ in self.ranked_names_of(concept)]

    def ranked_names_of(self, concept: int) -> list[tuple[str, int]]:
        """All names of a concept with the rank of their kind (`NAME_RANK`)."""
        places = range(*self._first_name[concept : concept + 2].tolist())
        return [(self._names[place], int(self._name_ranks[place])) for place in places]

    def concept_of(self, concept_id: str) -> int | None:
        """The concept with an id in any of the knowledge bases, or None."""
        place = int(self._all_ids.find([concept_id])[0])
        return None if place == UNKNOWN else int(self._concept_of_id[place])

    def may_be_names(self, hashes: UInt64) -> Int64:
        """Places of the hashes that may be those of names, by a look at a few bits of each."""
        marks = hashes >> self._shift
        bits = self._marks[marks >> np.uint64(3)] >> (7 - (marks & np.uint64(7))).astype(np.uint8)
        return np.flatnonzero(bits & 1)

    def _read_candidates(self, value: int, key: str) -> tuple[Candidate, ...]:
        """The concepts that have a normalized name with this hash, the most likely first."""
        place = int(np.searchsorted(self._hashes, np.uint64(value)))
        while place < len(self._hashes) and int(self._hashes[place]) == value:
            if self._keys[place] == key:
                first, end = self._first_entry[place : place + 2].tolist()
                columns = (self._concepts, self._ranks, self._conditions)
                numbers = zip(*(column[first:end].tolist() for column in columns), strict=True)
                names = [self._entries[entry] for entry in range(first, end)]
                return tuple(
                    Candidate(concept, rank, condition, name, word_ends(name, key))
                    for (concept, rank, condition), name in zip(numbers, names, strict=True)
                )
            place += 1
        return ()


def write_texts(folder: Path, name: str, texts: Iterable[str]) -> None:
    """Write texts, which may repeat, by number."""
    with (folder / f"{name}.utf8").open("wb") as file:
        lengths = np.fromiter((file.write(text.encode()) for text in texts), np.int64)
    write_array(folder / f"{name}.ends.int64", np.cumsum(lengths))


def open_texts(folder: Path, name: str) -> Texts:
    """The texts of `write_texts`, read from disk one by one."""
    ends = map_array(folder / f"{name}.ends.int64", np.int64)
    return Texts(map_array(folder / f"{name}.utf8", np.uint8), ends)
