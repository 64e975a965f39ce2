"""Formats of knowledge bases, and what their importers read: JSON, tables, XML.

An importer is a `Format`: it recognizes a file by its beginning (`Head`) and yields concepts and
relations. Errors name the file and, where they can, the line.
"""

from __future__ import annotations

import itertools
import re
from csv import Error, reader
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, counted, listing
from irplatform.files.formats import read_json
from irplatform.files.reading import decoded, numbered_lines, open_bytes, opened_text
from irplatform.spelling import option
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lxml.etree import _Element

    from irplatform.knowledge.model import Concept, ConceptKind, Relation


_HEAD = 1 << 14
_BYTE_ORDER_MARK = "\ufeff"
_LARGEST_JSON = 1 << 32
"""Bytes of a JSON file: 4 GB. The largest ontologies have one."""
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
"""A cell as spreadsheets write it: quotes within it are doubled."""
_NO_VALUE = {"", "na", "n/a", "none", "null", "nan", "-"}


@dataclass(frozen=True)
class Head:
    """The beginning of a file: its first 16 kB, unpacked."""

    text: str

    @property
    def line(self) -> str:
        """The first line, without its end."""
        return self.text.partition("\n")[0].rstrip("\r")

    @property
    def columns(self) -> list[str]:
        """The first line's columns, as of a table."""
        return [column.strip() for column in self.line.split("\t")]

    def has_columns(self, *names: str) -> bool:
        """Return whether the first line is a header with these columns."""
        return set(names) <= set(self.columns)


@dataclass(frozen=True)
class Format:
    """A file format of a knowledge base.

    Attributes:
        name: the name that users give (`format`).
        kb: the knowledge base in this format; "" for any.
        description: for the user: which file, from whom.
        recognizes: whether the beginning of a file is in this format.
        read: yields a file's concepts and relations.
        revision: of the importer; when it is raised, files that are added again are read again.
        beside: names of files in the same folder that are read too.
        kinds: kinds of terms that the user gave, by prefix, "" for all others; None where the file
            has the kinds.
    """

    name: str
    kb: str
    description: str
    recognizes: Callable[[Head], bool]
    read: Callable[..., Iterator[Concept | Relation]]
    revision: int = 1
    beside: tuple[str, ...] = ()
    kinds: Mapping[str, ConceptKind] | None = None

    @property
    def mark(self) -> str:
        """The importer's part of a fingerprint."""
        name = self.name if self.revision == 1 else f"{self.name} {self.revision}"
        kinds = sorted((self.kinds or {}).items())
        return " ".join([name, *(f"{prefix}={kind}" for prefix, kind in kinds)])

    def with_kinds(self, kinds: Mapping[str, ConceptKind]) -> Format:
        """The format with the kinds that the user gave."""
        if not kinds:
            return self
        if self.kinds is None:
            raise InputError(
                f"{option('kind')} is for ontologies (OBO, OBO graph, OWL), and this is "
                f"{self.description}."
            )
        return replace(self, kinds=kinds, read=partial(self.read, kinds=kinds))


def head_of(path: Path) -> Head:
    """Read the beginning of a file."""
    with open_bytes(path) as file:
        text = file.read(_HEAD).decode("utf-8", errors="replace")
    return Head(text.removeprefix(_BYTE_ORDER_MARK).lstrip())


def load(path: Path, kind: type[list[Any]] | type[dict[str, Any]]) -> Any:
    """Read a JSON file that holds a list or an object."""
    value = read_json(path, most=_LARGEST_JSON)
    if not isinstance(value, kind):
        shape = "a list" if kind is list else "an object"
        raise InputError(f"this file should hold {shape} at its top.", path=path, line=1)
    return value


def text_of(record: Any, key: str, path: Path, place: str) -> str:
    """The text under a key of an object; `place` is where the object is in the file."""
    value = record.get(key) if isinstance(record, dict) else None
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{place} has no text under '{key}'.", path=path)
    return value.strip()


def texts_of(value: Any) -> list[str]:
    """A list of texts, or one text, or nothing, as a list; what is not text is left out."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def objects_of(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; empty for anything else, such as null."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class Unread:
    """The entries of a file that cannot be read: `with unread:` leaves an entry out."""

    def __init__(self, path: Path, kind: str = "line") -> None:
        self.path = path
        self.noun = kind
        self._errors: list[InputError] = []
        self._count = 0

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        self._count += error is None
        if isinstance(error, InputError):
            self._errors.append(error)
        return isinstance(error, InputError)

    def add(self, message: str, line: int) -> None:
        """Leave out a line."""
        self._errors.append(InputError(message, path=self.path, line=line))

    def tell(self) -> None:
        """Say how many are left out; if most are, raise the error of the first."""
        if not self._errors:
            return
        first = self._errors[0]
        if len(self._errors) > self._count:
            raise first
        number = counted(len(self._errors), self.noun)
        notice(f"WARNING: {number} left out that cannot be read. The first is {first}")


class Row(dict[str, str]):
    """A line of a table by column, with its number; `columns` gathers the used columns."""

    def __init__(
        self, cells: dict[str, str], path: Path, line: int, columns: set[str], unread: Unread
    ) -> None:
        super().__init__(cells)
        self.path = path
        self.line = line
        self.columns = columns
        self.unread = unread

    def __getitem__(self, column: str) -> str:
        self.columns.add(column)
        return super().__getitem__(column)

    def value(self, *columns: str) -> str:
        """The first of these columns that has a value ("NA", "null" and the like are none)."""
        self.columns.update(columns)
        for column in columns:
            cell = self.get(column, "")
            if cell.lower() not in _NO_VALUE:
                return cell
        return ""

    def pieces(self, separator: str, *columns: str) -> list[str]:
        """The pieces of the cells of all these columns, each once."""
        self.columns.update(columns)
        cells = (parts(self.get(column, ""), separator) for column in columns)
        return list(dict.fromkeys(itertools.chain.from_iterable(cells)))

    def needed(self, column: str) -> str:
        """A column that must not be empty; "NONE" may be a gene here."""
        if cell := self[column]:
            return cell
        raise self.error(f"the column '{column}' is empty.")

    def error(self, message: str) -> InputError:
        """An error at this line."""
        return InputError(message, path=self.path, line=self.line)


def rows(
    path: Path, needed: Sequence[str], *, spelled: Callable[[str], str] = str, csv: bool = False
) -> Iterator[Row]:
    """Yield the lines of a table below its header; notices name ignored columns and lines.

    Tabs or, with `csv`, commas separate the columns, which `spelled` renames. `needed` columns must
    be there. Lines that cannot be read are left out, if the reader says `with row.unread:`.

    Raises:
        InputError: a column is missing from the header, or a line has more or fewer cells.
    """
    unread = Unread(path)
    lines = _csv_lines(path) if csv else lines_of_cells(path, unread=unread)
    number, titles = next(lines, (1, []))
    header = [spelled(title) for title in titles]
    if missing := [column for column in needed if spelled(column) not in header]:
        wrong = f"the header has no column '{missing[0]}' (it has: {', '.join(titles)[:200]})."
        raise InputError(wrong, path=path, line=number)
    columns = set(map(spelled, needed))
    row = None
    for number, cells in lines:
        if len(cells) != len(header):
            wrong = f"{counted(len(cells), 'column')} where the header has {len(header)}."
            unread.add(wrong, number)
            continue
        row = Row(dict(zip(header, cells, strict=True)), path, number, columns, unread)
        yield row
    ignored = [title for title, column in zip(titles, header, strict=True) if column not in columns]
    if row is not None and (ignored := list(filter(None, ignored))):
        notice(f"{path}: ignored columns: {listing(ignored, 12)}.")
    unread.tell()


def lines_of_cells(
    path: Path, columns: int | None = None, unread: Unread | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield each line's number and its cells, without quotes and white space around them.

    Lines that are not UTF-8 or have another number of `columns` are left out if there is `unread`.
    """
    for number, line in numbered_lines(path):
        try:
            text = decoded(line, path, number)
            cells = [_unquoted(cell.strip()) for cell in text.rstrip("\r\n").split("\t")]
            if columns is not None and len(cells) != columns:
                wrong = f"{counted(len(cells), 'column')}, not {columns}, separated by tabs."
                raise InputError(wrong, path=path, line=number)
        except InputError as error:
            if unread is None:
                raise
            unread.add(error.message, number)
        else:
            yield number, cells


def _csv_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    with opened_text(path) as text:
        lines = reader(text, strict=True, skipinitialspace=True)
        try:
            for cells in lines:
                if any(cells):
                    yield lines.line_num, [cell.strip() for cell in cells]
        except Error as error:
            wrong = f"this is not CSV ({error})."
            raise InputError(wrong, path=path, line=lines.line_num) from error


def parts(cell: str, separator: str) -> list[str]:
    """The pieces of a cell that are not empty, each once."""
    pieces = (_unquoted(piece.strip()) for piece in cell.split(separator))
    return list(dict.fromkeys(piece for piece in pieces if piece))


def _unquoted(cell: str) -> str:
    if _QUOTED.fullmatch(cell):
        return cell[1:-1].replace('""', '"').strip()
    return cell[1:-1].strip() if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def elements(path: Path, tags: Sequence[str], *, entities: bool = False) -> Iterator[_Element]:
    """Yield the elements with some tags of lxml below the root of an XML file.

    Each element is emptied before the next. With `entities` the file may declare entities for its
    text, as OWL does for the beginnings of addresses. Other files are never read.

    Raises:
        InputError: the file is not well-formed, or declares entities.
    """
    from lxml import etree

    resolved = "internal" if entities else False
    with open_bytes(path) as file:
        try:
            for _, element in etree.iterparse(
                file, tag=tags, resolve_entities=resolved, no_network=True, load_dtd=False
            ):
                if next(element.iter(etree.Entity), None) is not None:
                    wrong = "entities are not accepted here."
                    raise InputError(wrong, path=path, line=element.sourceline)
                parent = element.getparent()
                if parent is None or parent.getparent() is not None:
                    continue  # within another one
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del parent[0]
        except etree.XMLSyntaxError as error:
            wrong = f"this is not well-formed XML ({error.msg})."
            raise InputError(wrong, path=path, line=error.lineno) from error
