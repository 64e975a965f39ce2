"""Tables as knowledge bases publish them: tab-separated, with a header, in UTF-8."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.errors import InputError, counted
from irplatform.text_files import decoded, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
"""As spreadsheets write a cell: quotes within it are doubled."""
_NOTHING = {"", "na", "n/a", "none", "null", "nan", "-"}


class Row(dict[str, str]):
    """A line of a table by column, and its number."""

    def __init__(self, cells: dict[str, str], path: Path, line: int) -> None:
        super().__init__(cells)
        self.path = path
        self.line = line

    def value(self, *columns: str) -> str:
        """The first of these columns that says something ("NA", "null" and the like do not)."""
        for column in columns:
            cell = self.get(column, "")
            if cell.lower() not in _NOTHING:
                return cell
        return ""

    def needed(self, column: str) -> str:
        """A column that must hold something; "NONE" may be a gene here.

        Raises:
            InputError: it is empty.
        """
        if cell := self[column]:
            return cell
        raise self.error(f"the column '{column}' is empty.")

    def error(self, message: str) -> InputError:
        """An error at this line."""
        return InputError(message, path=self.path, line=self.line)


def lines_of_cells(path: Path, columns: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield each line's number and its cells, without quotes and white space around them.

    Raises:
        InputError: a line is not UTF-8, or does not have so many columns.
    """
    for number, line in numbered_lines(path):
        text = decoded(line, path, number)
        cells = [_unquoted(cell.strip()) for cell in text.rstrip("\r\n").split("\t")]
        if columns is not None and len(cells) != columns:
            raise InputError(
                f"{counted(len(cells), 'column')} where there should be {columns}, parted by tabs.",
                path=path,
                line=number,
            )
        yield number, cells


def rows(path: Path, needed: Sequence[str], *, any_case: bool = False) -> Iterator[Row]:
    """Yield the lines of a table below its header.

    Args:
        path: the file; may be gzipped.
        needed: columns that must be there.
        any_case: whether `needed` are in lower case, and so are the columns that come out, however
            the header has them.

    Raises:
        InputError: a column is missing from the header, or a line has more or fewer cells.
    """
    lines = lines_of_cells(path)
    number, header = next(lines, (1, []))
    header = [column.lower() for column in header] if any_case else header
    if missing := [column for column in needed if column not in header]:
        raise InputError(
            f"the header has no column '{missing[0]}' (it has: {', '.join(header)[:200]}).",
            path=path,
            line=number,
        )
    for number, cells in lines:
        if len(cells) != len(header):
            raise InputError(
                f"{counted(len(cells), 'column')} where the header has {len(header)}.",
                path=path,
                line=number,
            )
        yield Row(dict(zip(header, cells, strict=True)), path, number)


def parts(cell: str, separator: str) -> list[str]:
    """The pieces of a cell that are not empty, each once."""
    pieces = (_unquoted(piece.strip()) for piece in cell.split(separator))
    return list(dict.fromkeys(piece for piece in pieces if piece))


def _unquoted(cell: str) -> str:
    if _QUOTED.fullmatch(cell):
        return cell[1:-1].replace('""', '"').strip()
    return cell[1:-1].strip() if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell
