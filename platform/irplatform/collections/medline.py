"""MEDLINE as NLM distributes it: a folder of numbered files, later ones amending earlier ones.

A daily update file holds new articles, new versions of old ones, and deletions. Files are read from
the newest to the oldest, and an article is skipped if its number was seen before: that takes a bit
per number, 16 MB for all of PubMed.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property, partial
from typing import TYPE_CHECKING

from irplatform.collections.pubmed import FIELDS
from irplatform.collections.pubmed_files import CHAPTER, Member, pack
from irplatform.data import Corpus
from irplatform.errors import unknown
from irplatform.system.console import notice
from irplatform.system.digests import HashedFiles, fingerprint
from irplatform.system.workers import ordered_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from irplatform.data import Document


FORMAT = 2
"""Version of the mapping from XML to documents."""
DEFAULT_FIELDS = ("mesh", "mesh_major", "chemicals", "keywords", "publication_types", "year")
"""Fields that are kept by default."""
XML_ENDINGS = (".xml.gz", ".xml")
"""Endings of the files in a folder of NLM's."""
_NUMBERS = re.compile(r"(\d+)")


class PubmedCorpus(Corpus):
    """A corpus in files of PubMed's XML, in any order: their names tell their age."""

    def __init__(
        self, name: str, files: Sequence[Path], fields: Sequence[str] = DEFAULT_FIELDS
    ) -> None:
        self.name = name
        self.files = tuple(sorted(files, key=age))
        self.fields = tuple(fields)
        self._hashed = HashedFiles(self.files)
        for field in fields:
            if field not in FIELDS:
                raise unknown("field", field, FIELDS, of="PubMed's articles")
        self._count: int | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Of the files' content, their order and the fields, not of where they lie."""
        return self._fingerprint_with(fields=[*self.fields])

    @cached_property
    def texts_fingerprint(self) -> str:
        """Likewise, without the fields."""
        return self._fingerprint_with()

    def _fingerprint_with(self, **more: object) -> str:
        return fingerprint(
            {"pubmed": FORMAT, "books": True, "files": self._hashed.digests(), **more}
        )

    def count(self) -> int | None:
        """The number of articles, once all have been read."""
        return self._count

    def __iter__(self) -> Iterator[Document]:
        """Stream the articles with all cores: newest file first, each in its own order.

        Raises:
            InputError: a file is not PubMed's XML, is damaged or cut off (with its line), or has
                changed since the fingerprint was taken.
        """
        self._check_files()
        number = 0
        for document in latest(reversed(self.files), self.fields):
            yield document
            number += 1
        self._check_files()
        self._count = number

    def _check_files(self) -> None:
        for path in self.files:
            self._hashed.check(path)


def latest(
    sources: Iterable[Path | Member], fields: tuple[str, ...], *, workers: int | None = None
) -> Iterator[Document]:
    """The articles of files that amend each other, each once."""
    seen = NumberSet()
    others = Counter[str]()
    for packed in ordered_map(partial(pack, fields=fields), sources, workers=workers):
        for number, document in packed.documents():
            if seen.add(number):
                yield document
        for number in packed.deleted:
            seen.add(number)
        others += packed.others
    if chapters := others.pop(CHAPTER, 0):
        notice(f"chapters of books, and books, among the articles: {chapters:,}")
    if others:
        kinds = ", ".join(f"{number:,} <{name}>" for name, number in others.most_common())
        notice(f"records of other kinds than PubMed's articles were passed over: {kinds}")


class NumberSet:
    """A set of numbers, a bit for each up to the largest."""

    def __init__(self) -> None:
        self._bits = bytearray()

    def add(self, number: int) -> bool:
        """Add a number; return True if it is new."""
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self._bits):
            self._bits.extend(bytes(place + (1 << 16) - len(self._bits)))
        if self._bits[place] & bit:
            return False
        self._bits[place] |= bit
        return True


def age(path: Path) -> tuple[tuple[int | str, ...], str]:
    """The sort key of a file, old to new: by the numbers in its name, `pubmed24n0002.xml.gz`."""
    parts = _NUMBERS.split(path.name)
    return tuple(int(part) if part.isdecimal() else part for part in parts), str(path)
