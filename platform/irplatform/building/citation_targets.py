"""The documents that references point to, and tables of identifiers of the same article.

A document is found by its id (a PMID, PMC id or DOI), by its fields `pmid`, `pmc`, `pmcid` and
`doi`, and on request by its title, if no other document has the same words. Without a collection,
references point to PMIDs and DOIs.
"""

from __future__ import annotations

import csv
import itertools
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from irplatform.building.citation_references import normalized, title_key
from irplatform.errors import InputError, counted, listing
from irplatform.files.reading import decoded, numbered_lines
from irplatform.system.console import notice, progress

if TYPE_CHECKING:
    from collections.abc import Collection as Container
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Corpus, Document

_KINDS = ("pmid", "pmcid", "doi")
_FIELDS = {"pmid": "pmid", "pmc": "pmcid", "pmcid": "pmcid", "doi": "doi"}


@dataclass(frozen=True, slots=True)
class Target:
    """A document that can be cited: its id, the words of its text if known, and its year or ""."""

    id: str
    words: int | None = None
    year: str = ""


@dataclass
class Targets:
    """The documents that identifiers stand for.

    `same` maps identifiers to others of the same article, `by_identifier` to documents of a
    collection (None without one). `titles` finds documents by title, too.
    """

    same: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_identifier: dict[str, Target] | None = None
    titles: bool = False

    def identified(self, work: Sequence[str]) -> bool:
        """Return whether a work has a PMID or DOI, in the file or by the table."""
        return any(i.startswith(("pmid:", "doi:")) for i in self._names(work))

    def find(self, work: Sequence[str]) -> Target | None:
        """The document of a cited work, given its identifiers."""
        names = list(self._names(work))
        if self.by_identifier is None:
            for kind in ("pmid:", "doi:"):
                if identifier := next((name for name in names if name.startswith(kind)), None):
                    return Target(identifier.removeprefix(kind))
            return None
        return next((self.by_identifier[n] for n in names if n in self.by_identifier), None)

    def _names(self, work: Sequence[str]) -> Iterator[str]:
        """All names of a work: its own, those of the table, its title last."""
        identifiers = [name for name in work if not name.startswith("title:")]
        yield from identifiers
        for name in identifiers:
            yield from self.same.get(name, ())
        if self.titles:
            yield from (name for name in work if name.startswith("title:"))


def search_corpus(corpus: Corpus, identifiers: set[str]) -> dict[str, Target]:
    """Map identifiers to documents, without titles of several documents, in one pass."""
    targets: dict[str, Target] = {}
    ambiguous: set[str] = set()
    titles = any(identifier.startswith("title:") for identifier in identifiers)
    with progress(
        f"looking for cited articles in {corpus.name}", corpus.size_hint(), "documents"
    ) as advance:
        for document in corpus:
            advance(1)
            names = [name for name in _names(document, titles=titles) if name in identifiers]
            if not names:
                continue
            target = Target(document.id, len(document.text.split()), document.year)
            for name in names:
                if name in targets and name.startswith("title:"):
                    ambiguous.add(name)
                targets.setdefault(name, target)
    return {name: target for name, target in targets.items() if name not in ambiguous}


def _names(document: Document, *, titles: bool) -> Iterator[str]:
    if document.id.isdecimal():
        kinds = [("pmid", document.id)]
    else:
        kinds = [("pmcid" if document.id.startswith("PMC") else "doi", document.id)]
    for name, kind in _FIELDS.items():
        kinds += [(kind, value) for value in document.values(name)]
    yield from filter(None, (normalized(kind, value) for kind, value in kinds))
    if titles and (key := title_key(document.title)):
        yield key


def read_table(path: Path, selection: Container[str]) -> dict[str, tuple[str, ...]]:
    """Map wanted identifiers to all of their article, by a table such as `PMC-ids.csv.gz`.

    Raises:
        InputError: the file is missing or not a table, or its header does not name two or more of
            PMID, PMCID and DOI.
    """
    lines = (decoded(line, path, number) for number, line in numbered_lines(path))
    header = next(lines, None)
    if header is None:
        raise InputError("there is nothing in this file.", path=path)
    rows = _rows(header, lines, path)
    names = [name.strip().strip("\ufeff").lower() for name in next(rows)]
    columns = {kind: names.index(kind) for kind in _KINDS if kind in names}
    if len(columns) < 2:
        raise InputError(
            "the first line needs two or more of the columns PMID, PMCID and DOI, separated by "
            f"commas or tabs; it has: {', '.join(names)[:200]}.",
            path=path,
            line=1,
        )
    aliases: dict[str, tuple[str, ...]] = {}
    invalid: Counter[str] = Counter()
    for row in rows:
        identifiers = _identifiers(row, columns, invalid)
        for identifier in identifiers:
            if identifier in selection:
                aliases[identifier] = identifiers
    if invalid:
        left_out = counted(invalid.total(), "cell")
        notice(f"{path}: left out {left_out} without an identifier: {listing(invalid)}")
    return aliases


csv.field_size_limit(min(sys.maxsize, 1 << 24))


def _rows(header: str, lines: Iterator[str], path: Path) -> Iterator[list[str]]:
    """The rows of a table: CSV with quotes, or columns separated by tabs without quoting."""
    table = itertools.chain([header], lines)
    if "\t" in header:
        reader = csv.reader(table, delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(table, strict=True)
    began = 1
    try:
        for row in reader:
            began = reader.line_num + 1
            yield row
    except csv.Error as error:
        raise InputError(f"this row cannot be read: {error}.", path=path, line=began) from error


def _identifiers(
    row: list[str], columns: Mapping[str, int], invalid: Counter[str]
) -> tuple[str, ...]:
    """The identifiers of a row; other cells are counted in `invalid`."""
    identifiers = []
    for kind, column in columns.items():
        if value := row[column].strip() if column < len(row) else "":
            if identifier := normalized(kind, value):
                identifiers.append(identifier)
            else:
                invalid[f"{kind.upper()} '{value[:40]}'"] += 1
    return tuple(identifiers)
