"""Sees that the files of a concept graph belong together, before anything is read of them.

A copy that broke off, or a disk that was full, leaves files that are cut off or missing. Reading
them would fail far from here, or give blank names. Sizes are compared, and the last numbers of
offsets: that costs as little for MEDLINE as for a few articles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.errors import InputError
from irplatform.json_io import read_own_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TABLE = "table"
"""A graph's folder with its concepts."""

_BYTES = {"ends": 8, "hashes": 8, "order": 8, "utf8": 1}
"""Of a number, by the end of a file's name, where that is no data type."""


def read_facts(path: Path) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        InputError: the file is missing, or holds something else.
    """
    try:
        facts = read_own_json(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _damaged(path, "is missing") from error
    except ValueError as error:
        raise _damaged(path, "is no JSON") from error
    if not isinstance(facts, dict):
        raise _damaged(path, "is no JSON object")
    return facts


def check_facts(path: Path, facts: Mapping[str, Any], types: Mapping[str, type]) -> None:
    """See that facts have what is asked of them.

    Args:
        path: where they were read.
        facts: names to values.
        types: of the values that there must be, by name.

    Raises:
        InputError: one is missing, or is something else.
    """
    for name, kind in types.items():
        if not isinstance(facts.get(name), kind):
            raise _damaged(path, f"lacks '{name}'")


def check_arrays(folder: Path, lengths: Mapping[str, int]) -> None:
    """See that arrays have as many numbers as they should.

    Args:
        folder: which holds them.
        lengths: numbers by file; the end of a file's name says what they are.

    Raises:
        InputError: a file is missing, or has another size.
    """
    for name, length in lengths.items():
        size, right = _size(folder / name), length * _width(name)
        if size != right:
            raise _damaged(folder / name, f"has {size:,} bytes, not {right:,}")


def check_offsets(folder: Path, name: str, length: int, last: int) -> None:
    """See that offsets (int64) are as many as they should be, and end where they should.

    Raises:
        InputError: they do not, or the file is missing.
    """
    check_arrays(folder, {name: length})
    if (end := last_offset(folder / name)) != last:
        raise _damaged(folder / name, f"ends with {end:,}, not {last:,}")


def check_texts(folder: Path, name: str, length: int, ends: str = "ends.int64") -> None:
    """See that texts, one behind the other, are as long as the file of their ends says.

    Raises:
        InputError: they are not, or a file is missing.
    """
    check_arrays(folder, {f"{name}.{ends}": length})
    check_arrays(folder, {f"{name}.utf8": last_offset(folder / f"{name}.{ends}")})


def check_strings(folder: Path, name: str, length: int) -> None:
    """The same of a `StringTable`."""
    check_texts(folder, name, length, "ends")
    check_arrays(folder, {f"{name}.hashes": length, f"{name}.order": length})


def longest(folder: Path, names: tuple[str, ...]) -> int:
    """Numbers in the longest of some arrays that should have equally many: what is cut is shorter.

    Raises:
        InputError: one is missing.
    """
    return max(_size(folder / name) // _width(name) for name in names)


def last_offset(path: Path) -> int:
    """The last number of an array of int64 that is there; 0 of an empty one."""
    with path.open("rb") as file:
        if file.seek(0, 2) < 8:
            return 0
        file.seek(-8, 2)
        return int.from_bytes(file.read(8), "little", signed=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _damaged(path, "is missing") from error


def _width(name: str) -> int:
    end = name.rpartition(".")[2]
    return _BYTES.get(end) or np.dtype(end).itemsize


def _damaged(path: Path, what: str) -> InputError:
    folder = path.parent.parent if path.parent.name == TABLE else path.parent
    return InputError(
        f"this file of a concept graph {what}. Delete {folder} and run `platform concepts build` "
        "again.",
        path=path,
    )
