"""Text tables read as columns: blocks of lines become arrays, with no Python object per cell.

Cells are byte strings of NumPy (`S8`, `S16`, …), padded with NUL bytes to whole words of eight
bytes. They sort like the texts that they encode, since UTF-8 keeps the order of code points.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable

Cells = npt.NDArray[Any]
"""UTF-8 texts, one a row: byte strings of a fixed width, or `bytes` objects if some are long."""
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

_WORD = 8
_LONG = 64
"""Bytes. A column with a longer cell is kept as objects, as padding would waste memory."""
_PAD = bytes(_LONG + _WORD)
_TAB, _NEW_LINE, _BLANK, _MINUS = b"\t\n -"
_MASKS = np.array([(1 << 8 * count) - 1 for count in range(_WORD + 1)], dtype="<u8")
"""The first bytes of a word, by their number."""
_ZEROS = np.uint64(0x3030303030303030)
_OVER_NINE = np.uint64(0x7676767676767676)
_HIGH_BITS = np.uint64(0x8080808080808080)
_PAIRS = np.uint64(0x000000FF000000FF)
"""For eight digits, one a byte."""
_MIXERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Table:
    """A block of lines with the same number of cells.

    Attributes:
        data: the bytes, with NUL bytes after them.
        ends: the position after each cell, of shape (lines, columns).
        is_plain: all is ASCII, without control characters but tabs and line ends.
    """

    data: bytes
    ends: npt.NDArray[np.intp]
    is_plain: bool

    def __len__(self) -> int:
        return len(self.ends)

    def cell(self, line: int, column: int) -> bytes:
        """Return one cell."""
        flat = self.ends.ravel()
        at = line * self.ends.shape[1] + column
        return self.data[flat[at - 1] + 1 if at else 0 : flat[at]]

    def column(self, column: int) -> Cells:
        """Return the cells of a column."""
        starts, lengths = self._extents(column)
        width = int(lengths.max(initial=0))
        if width > _LONG:
            ends = self.ends[:, column].tolist()
            cells = np.empty(len(self), dtype=object)
            cells[:] = [self.data[s:e] for s, e in zip(starts.tolist(), ends, strict=True)]
            return cells
        return _padded(self.data, starts, lengths, max(-(-width // _WORD), 1))

    def whole_numbers(self, column: int) -> npt.NDArray[np.int64] | None:
        """Return the numbers in a column; None unless each is written in up to eight digits."""
        starts, lengths = self._extents(column)
        if int(lengths.max(initial=0)) > _WORD:
            return None
        texts = _padded(self.data, starts, lengths, 1).view("<u8").astype(np.uint64)
        # The digits of a number are the last bytes of its word, and zeros come before them.
        digits = (texts ^ _ZEROS) << ((_WORD - lengths) * 8).astype(np.uint64)
        if (((digits + _OVER_NINE) | digits) & _HIGH_BITS).any():
            return None
        # Two, four and eight digits at a time (Lemire, "Quickly parsing eight digits", 2018).
        pairs = digits * np.uint64(10) + (digits >> np.uint64(8))
        upper = (pairs & _PAIRS) * np.uint64(0x000F424000000064)
        lower = ((pairs >> np.uint64(16)) & _PAIRS) * np.uint64(0x0000271000000001)
        return ((upper + lower) >> np.uint64(32)).astype(np.int64)

    def with_zeros(self, column: int) -> npt.NDArray[np.intp]:
        """Return the lines whose cell has a zero and something behind it, such as 01."""
        starts, lengths = self._extents(column)
        firsts = np.frombuffer(self.data, np.uint8)[starts]
        return np.flatnonzero((firsts == ord("0")) & (lengths > 1))

    def numbers(self, column: int) -> Floats:
        """Return the numbers in a column, each the nearest one of 64 bits, as `float` has it.

        Raises:
            ValueError: a cell is not a number.
        """
        starts, lengths = self._extents(column)
        width = int(lengths.max(initial=0))
        firsts = np.frombuffer(self.data, np.uint8)[starts]
        if width <= _LONG and (((firsts - ord("0")) < 10) | (firsts == _MINUS)).all():
            # A list in JSON, one cell in each place of the same width.
            texts = np.empty((len(self), width + 1), dtype=np.uint8)
            texts[:, 0] = ord(",")
            inside = np.arange(width, dtype=np.uint8) < lengths.astype(np.uint8)[:, None]
            texts[:, 1:] = np.where(inside, _windows(self.data, width)[starts], np.uint8(_BLANK))
            texts[0, 0] = ord("[")
            try:
                read = orjson.loads(texts.tobytes() + b"]")
                values = np.fromiter(read, np.float64, len(read))
            except (orjson.JSONDecodeError, TypeError):
                pass  # numbers that JSON writes otherwise, such as 7. or 007
            else:
                if len(values) == len(self):  # a cell with a comma would give two
                    values[(values == 0) & (firsts == _MINUS)] = -0.0
                    return values
        cells = self.column(column).tolist()
        if any(b"_" in cell for cell in cells):  # Python reads 1_000 as a number, nobody else does
            raise ValueError("a number with an underscore")
        return np.fromiter(map(float, cells), np.float64, len(cells))

    def _extents(self, column: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return where the cells of a column begin, and their lengths."""
        before = self.ends[:, column - 1] if column else np.append(-1, self.ends[:-1, -1])
        starts = before + 1
        return starts, self.ends[:, column] - starts


def split(block: bytes, columns: int) -> Table | None:
    r"""Split a block of lines at single blanks and tabs.

    >>> split(b"1 Q0 d7\n1 Q0 d40\n", 3).column(2)
    array([b'd7', b'd40'], dtype='|S8')

    Returns:
        The table; None unless each line has this number of cells and nothing else, not even a
        blank at its end.
    """
    data = block + b"\n" * (not block.endswith(b"\n")) + _PAD
    characters = np.frombuffer(data, np.uint8, len(data) - len(_PAD))
    lines = np.count_nonzero(characters == _NEW_LINE)
    blank = characters <= _BLANK
    controls = np.count_nonzero(characters < _BLANK) - lines
    if has_controls := controls and controls != np.count_nonzero(characters == _TAB):
        if any(other in block for other in (b"\r", b"\v", b"\f")):
            return None
        blank = (characters == _BLANK) | (characters == _TAB) | (characters == _NEW_LINE)
    ends = np.flatnonzero(blank)
    if len(ends) != columns * lines or blank[0] or (blank[1:] & blank[:-1]).any():
        return None
    ends = ends.reshape(lines, columns)
    if (characters[ends[:, -1]] != _NEW_LINE).any():
        return None
    return Table(data, ends, not has_controls and block.isascii() and b"\x7f" not in block)


def packed(texts: Iterable[str]) -> Cells:
    """Encode texts, which have no NUL character."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    width = max(map(len, encoded), default=0)
    if width > _LONG:
        cells = np.empty(len(encoded), dtype=object)
        cells[:] = encoded
        return cells
    return np.array(encoded, dtype=f"S{max(-(-width // _WORD), 1) * _WORD}")


def texts_of(cells: Cells) -> list[str]:
    """Decode cells; UnicodeDecodeError if one is not UTF-8."""
    if not len(cells):
        return []
    joined = b"\n".join(cells.tolist())
    if joined.isascii():
        return joined.decode().split("\n")
    return [cell.decode("utf-8", "surrogatepass") for cell in cells.tolist()]


def words(cells: Cells) -> Words | None:
    """Return the cells as numbers in the order of the texts, of shape (cells, words).

    None if they are objects.
    """
    if cells.dtype == object:
        return None
    return _parts(cells).byteswap() if sys.byteorder == "little" else _parts(cells)


def codes(cells: Cells) -> Words:
    """Return a number per cell: equal for equal cells, and almost always different for others."""
    if cells.dtype == object:
        is_long = np.array([len(cell) > _LONG for cell in cells], dtype=bool)
        code = codes(np.where(is_long, b"", cells).astype(f"S{_LONG}"))
        code[is_long] = np.array([hash(cell) for cell in cells[is_long]], np.int64).view(np.uint64)
        return code
    parts = _parts(cells)
    code = parts[:, 0].copy()
    for number in range(1, parts.shape[1]):
        # A word of padding changes nothing: the same text has the same code in each width.
        code ^= mixed(parts[:, number] * _MIXERS[number % 3])
    return code


def changes(cells: Cells) -> npt.NDArray[np.intp]:
    """Return the positions of cells that differ from the cell before, of the first one, too."""
    if not len(cells):
        return np.empty(0, np.intp)
    if cells.dtype == object:
        different = cells[1:] != cells[:-1]
    else:
        parts = _parts(cells)
        different = parts[1:, 0] != parts[:-1, 0]
        for number in range(1, parts.shape[1]):
            different |= parts[1:, number] != parts[:-1, number]
    return np.append(0, np.flatnonzero(different) + 1)


def _parts(cells: Cells) -> Words:
    """The bytes of the cells in words, of shape (cells, words)."""
    count = cells.dtype.itemsize // _WORD
    return np.ascontiguousarray(cells).view(np.uint64).reshape(len(cells), count)


def mixed(code: Words) -> Words:
    """Spread numbers over all of 64 bits, in place; different ones stay different, 0 stays 0."""
    code ^= code >> np.uint64(29)
    code *= _MIXERS[0]
    code ^= code >> np.uint64(32)
    return code


def _windows(data: bytes, width: int) -> npt.NDArray[np.uint8]:
    """All pieces of this many bytes, one from each position but those of the padding."""
    return np.ndarray((len(data) - len(_PAD), width), np.uint8, data, strides=(1, 1))


def _padded(
    data: bytes, starts: npt.NDArray[np.intp], lengths: npt.NDArray[np.intp], count: int
) -> Cells:
    pieces: Words = np.ndarray((len(data) - _WORD,), "<u8", data, strides=(1,))
    cells = np.empty((len(starts), count), dtype="<u8")
    for number in range(count):
        inside = np.clip(lengths - _WORD * number, 0, _WORD)
        cells[:, number] = pieces[starts + _WORD * number] & _MASKS[inside]
    return cells.view(f"S{_WORD * count}").ravel()
