"""A table of identifiers that mean the same article: PMID, PMC id, DOI.

PubMed Central publishes one as `PMC-ids.csv.gz`, ten million lines; only those that are asked for
are kept.
"""

from __future__ import annotations

import csv
import itertools
import sys
from collections import Counter
from typing import TYPE_CHECKING

from irplatform.console import notice
from irplatform.errors import InputError, counted, listing
from irplatform.judgments.citations.references import normalized
from irplatform.text_files import decoded, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Collection as Container
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_KINDS = ("pmid", "pmcid", "doi")

csv.field_size_limit(min(sys.maxsize, 1 << 24))


def read_table(path: Path, wanted: Container[str]) -> dict[str, tuple[str, ...]]:
    """Read what a table says about some identifiers.

    Args:
        path: a .csv or .tsv file (also .gz) whose header names two or more of PMID, PMCID and DOI.
        wanted: identifiers, see `references`.

    Returns:
        Of those that are in the table, what else the article is called.

    Raises:
        InputError: the file is missing, no table, or has none of these columns.
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
            "the first line needs two or more of the columns PMID, PMCID and DOI, parted by commas "
            f"or tabs; it has: {', '.join(names)[:200]}.",
            path=path,
            line=1,
        )
    aliases: dict[str, tuple[str, ...]] = {}
    invalid: Counter[str] = Counter()
    for row in rows:
        identifiers = _identifiers(row, columns, invalid)
        for identifier in identifiers:
            if identifier in wanted:
                aliases[identifier] = identifiers
    if invalid:
        left_out = counted(invalid.total(), "cell")
        notice(f"{path}: left out {left_out} without an identifier: {listing(invalid)}")
    return aliases


def _rows(header: str, lines: Iterator[str], path: Path) -> Iterator[list[str]]:
    """The rows of a table: CSV with quotes, or parted by tabs, where a quote is a character."""
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
    """What a row calls an article; what is no identifier is counted in `invalid`."""
    identifiers = []
    for kind, column in columns.items():
        if value := row[column].strip() if column < len(row) else "":
            if identifier := normalized(kind, value):
                identifiers.append(identifier)
            else:
                invalid[f"{kind.upper()} '{value[:40]}'"] += 1
    return tuple(identifiers)
