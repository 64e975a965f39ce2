"""The rows of several files: those that plugins ship, each file guarded, or files that are named.

A plugin's file that is not right takes nothing from the others: it is refused with its reason, and
their rows go on, as with plugins that cannot be loaded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.evaluation.inferred import is_inferred
from irplatform.evaluation.measures import parse_measures
from irplatform.registry import registry
from irplatform.reproduction.rows import Row, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from irplatform.registry import Plugin

_WORD = re.compile(r"[\w.-]+")


@dataclass(frozen=True)
class Refused:
    """A plugin's file of results that is not used.

    Attributes:
        file: the file.
        plugin: who ships it.
        reason: what is wrong with it, with the file's name.
    """

    file: Path
    plugin: Plugin
    reason: str

    def __str__(self) -> str:
        return f"results of {self.plugin} are not used: {self.reason}"

    def mentions(self, pattern: str) -> bool:
        """Whether something in the file matches: an id, a tag or a system, were it right."""
        try:
            text = self.file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False
        return any(fnmatchcase(word, pattern) for word in _WORD.findall(text))


def known_rows(files: Iterable[Path]) -> list[Row]:
    """The rows of several files.

    Raises:
        InputError: see `read_rows`; or two rows have the same id, or a measure is unknown.
    """
    rows: dict[str, Row] = {}
    for file in files:
        rows |= _more_rows(file, rows)
    return list(rows.values())


def shipped_rows(files: Mapping[Path, Plugin]) -> tuple[list[Row], list[Refused]]:
    """The rows of plugins' files, and the files that are not right.

    Of two files with the same id, the later one is refused.
    """
    rows: dict[str, Row] = {}
    refusals = []
    for file, plugin in files.items():
        try:
            rows |= _more_rows(file, rows)
        except InputError as error:
            refusals.append(Refused(file, plugin, str(error)))
    return list(rows.values()), refusals


def _more_rows(file: Path, earlier_rows: Mapping[str, Row]) -> dict[str, Row]:
    """The rows of a file by id, all of them or none."""
    rows: dict[str, Row] = {}
    for row in read_rows(file):
        if other := earlier_rows.get(row.id) or rows.get(row.id):
            raise InputError(f"result '{row.id}' is also in {other.file}; rename one.", path=file)
        _check_measures(row)
        rows[row.id] = row
    return rows


def _check_measures(row: Row) -> None:
    """Refuse a measure that no run reports under this name; a typing error costs no training."""
    for measure in dict.fromkeys(measure for measure, _, _ in row.figures()):
        place = f"result '{row.id}', measure '{measure}'"
        try:
            # Whether there are sampled judgments, the run will see.
            sampled = is_inferred(measure)
            (name,) = parse_measures([measure], registry().measures, sampled=sampled)
        except InputError as error:
            raise InputError(f"{place}: {error}", path=row.file) from error
        if name != measure:
            raise InputError(f"{place}: runs report it as '{name}'; write it so.", path=row.file)
