"""MEDLINE as NLM distributes it: a folder of numbered files, later ones amending earlier ones.

The baseline of a year comes in about a thousand files; a daily update file holds new articles, new
versions of old ones, and deletions. What counts is an article's last appearance. Files are
therefore read from the newest to the oldest, and an article is passed over whose number was seen
before: a bit per number is all that has to be remembered, 16 MB for all of PubMed.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.collections import irds_records as records
from irplatform.collections.archives import read_tar
from irplatform.collections.irds_downloads import is_stored, reading
from irplatform.collections.pubmed import FIELDS
from irplatform.collections.pubmed_files import CHAPTER, Member, pack
from irplatform.data import Corpus
from irplatform.errors import unknown
from irplatform.system.console import notice
from irplatform.system.digests import HashedFiles, fingerprint
from irplatform.system.workers import ordered_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from irplatform.data import Document


FORMAT = 2
"""Version of the mapping from XML to documents: a change of it makes other documents."""
DEFAULT_FIELDS = ("mesh", "mesh_major", "chemicals", "keywords", "publication_types", "year")
"""Fields that are kept where nothing else is said."""
XML_ENDINGS = (".xml.gz", ".xml")
"""Of the files in a folder of NLM's."""
_NUMBERS = re.compile(r"(\d+)")


class PubmedCorpus(Corpus):
    """A corpus in files of PubMed's XML, in any order: their names tell which is newer."""

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
        """Of the files' content, their order and the fields, wherever the files lie."""
        return self._fingerprint_with(fields=[*self.fields])

    @cached_property
    def texts_fingerprint(self) -> str:
        """Likewise, whatever the fields."""
        return self._fingerprint_with()

    def _fingerprint_with(self, **more: object) -> str:
        return fingerprint(
            {"pubmed": FORMAT, "books": True, "files": self._hashed.digests(), **more}
        )

    def count(self) -> int | None:
        """The number of articles, once they have all been read."""
        return self._count

    def __iter__(self) -> Iterator[Document]:
        """Stream the articles with all cores: newest file first, each in its own order.

        Raises:
            InputError: a file is not PubMed's XML, is damaged or cut off (with its line), or is not
                what the fingerprint stands for any more.
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
        """Add a number; returns whether it is new."""
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self._bits):
            self._bits.extend(bytes(place + (1 << 16) - len(self._bits)))
        if self._bits[place] & bit:
            return False
        self._bits[place] |= bit
        return True


def age(path: Path) -> tuple[tuple[int | str, ...], str]:
    """Sorts files from old to new: by the numbers in their names, `pubmed24n0002.xml.gz`."""
    parts = _NUMBERS.split(path.name)
    return tuple(int(part) if part.isdecimal() else part for part in parts), str(path)


# MEDLINE of 2017 from ir_datasets' downloads, read by our own parser.
#
# ir_datasets takes of an article the title and the first section of the abstract, each up to the
# first italics; of a structured abstract that is the background alone, and MeSH headings are left
# out. The files that it downloads have everything. They are read here with all cores.

DATASET = "medline/2017"
_PARTS = ("2017/part1", "2017/part2", "2017/part3", "2017/part4", "2017/part5")
_EXTRA = "2017/aacr_asco_extra"


class MedlineCorpus(Corpus):
    """MEDLINE's baseline of 2017 and the conference abstracts that TREC PM added to it."""

    name = DATASET.replace("/", "-")
    fields = DEFAULT_FIELDS

    @property
    def fingerprint(self) -> str:
        """Of the dataset's id: its files do not change under it."""
        return fingerprint({"ir_datasets": DATASET, "pubmed": FORMAT, "fields": [*self.fields]})

    def __iter__(self) -> Iterator[Document]:
        """Stream the conference abstracts, then the articles.

        Raises:
            InputError: a file is damaged, or many gigabytes would have to be downloaded.
            PlatformError: a file could not be had, and what to do.
        """
        from ir_datasets.datasets.medline import AacrAscoDocs

        with reading(DATASET, "docs"):
            downloads = _downloads()
            yield from map(records.document, AacrAscoDocs(downloads[_EXTRA]).docs_iter())
            # The baseline is sorted by number: versions of an article lie in the same file, where
            # the highest is taken, so that the files' own order serves.
            members = (member for part in _PARTS for member in _members(downloads[part].path()))
            yield from latest(members, self.fields)

    def size_hint(self) -> int | None:
        """The number of records; there are a few articles less, since some have versions."""
        return _records()


def hint(dataset_id: str) -> dict[str, str]:
    """For the metadata of a dataset with these documents: how many there are, roughly."""
    return {"documents": f"about {_records():,}"} if dataset_id.startswith(f"{DATASET}/") else {}


def _records() -> int:
    import ir_datasets

    return int(ir_datasets.load(DATASET).docs_count())


def has_files() -> bool:
    """Whether the articles should be read from the downloaded files.

    Not where they were removed after ir_datasets had made its own copy of them.
    """
    import ir_datasets

    downloads = _downloads()
    files = (Path(downloads[part].path(force=False)) for part in (*_PARTS, _EXTRA))
    return not is_stored(ir_datasets.load(DATASET)) or all(file.exists() for file in files)


def _downloads() -> Any:
    from ir_datasets.util import DownloadConfig, home_path

    return DownloadConfig.context("medline", home_path() / "medline")


def _members(path: str) -> Iterator[Member]:
    for name, content in read_tar(Path(path), lambda name: name.endswith(".gz")):
        yield Member(f"{path}/{name}", content)
