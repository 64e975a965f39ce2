"""Which rows are asked for: by pattern of id, tag or system, or the quick ones."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from irplatform.errors import InputError, unknown
from irplatform.reproduction.rows import QUICK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.reproduction.rows import Row
    from irplatform.reproduction.shipped import Refused

_LIST = "`platform reproduce --list` lists all"


def select(
    rows: Sequence[Row],
    patterns: Sequence[str] = (),
    *,
    quick: bool = False,
    refused: Sequence[Refused] = (),
) -> list[Row]:
    """Choose the rows whose id, tag or system matches any of the patterns, which are the shell's.

    Args:
        rows: all rows.
        patterns: such as `delta-*`; none takes all.
        quick: only those tagged so.
        refused: files that are not used, which may have what is asked for.
    """
    candidates = [row for row in rows if QUICK in row.tags] if quick else list(rows)
    for pattern in patterns:
        if not any(_matches(row, pattern) for row in candidates):
            raise _unmatched(pattern, rows, refused)
    chosen = [row for row in candidates if not patterns or any(_matches(row, p) for p in patterns)]
    if not chosen:
        reasons = [f"no result is tagged {QUICK}", _LIST] if rows else ["there are no results"]
        raise InputError(_sentence([*reasons, *refused]))
    return chosen


def _unmatched(pattern: str, rows: Sequence[Row], refused: Sequence[Refused]) -> InputError:
    if any(_matches(row, pattern) for row in rows):
        return InputError(f"no result for '{pattern}' is tagged {QUICK}; leave out --quick.")
    if mentioning := [refusal for refusal in refused if refusal.mentions(pattern)]:
        return InputError(f"'{pattern}' cannot be reproduced: {_sentence(mentioning)}")
    names = {name for row in rows for name in _names(row)}
    hint = _sentence([_LIST, *refused])
    return unknown("result, tag or system", pattern, names, hint=hint)


def _sentence(parts: Sequence[str | Refused]) -> str:
    return "; ".join(str(part).removesuffix(".") for part in parts) + "."


def _matches(row: Row, pattern: str) -> bool:
    return any(fnmatchcase(name, pattern) for name in _names(row))


def _names(row: Row) -> tuple[str, ...]:
    return (row.id, *row.tags, row.name)
