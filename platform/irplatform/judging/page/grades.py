"""The grades of a collection with their definitions, as assessors see them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from irplatform.errors import InputError, listing, quoted
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.data import Collection
    from irplatform.judging.store import Store

_MOST = 10
"""Grades that have a key of their own."""
_GRADE = re.compile(r"\s*(-?\d{1,6})\s*=\s*(.*\S)\s*", re.DOTALL)
_BETWEEN = re.compile(r",(?=\s*-?\d{1,6}\s*=)")


def read_grades(text: str) -> dict[int, str]:
    """Read grades with definitions, which may have commas.

    Raises:
        InputError: it is not a list of these, or has one grade, or more than ten.

    >>> read_grades("0=not relevant, 1=relevant, in part")
    {0: 'not relevant', 1: 'relevant, in part'}
    """
    parts = [_GRADE.fullmatch(part) for part in _BETWEEN.split(text)]
    grades = {int(part[1]): part[2] for part in parts if part}
    if not 2 <= len(parts) == len(grades) <= _MOST:
        raise InputError(
            f"{option('grades')} takes 2 to {_MOST} different grades with their definitions, such "
            f"as '0=not relevant,1=relevant', not {quoted(text)}."
        )
    return grades


def defined_grades(
    grades: Mapping[int, str] | str | None, before: Mapping[int, str], collection: Collection
) -> Mapping[int, str]:
    """Return the grades that the user gives, or a pool was judged by before, or the collection's.

    Raises:
        InputError: they are not two at least.
    """
    grades = read_grades(grades) if isinstance(grades, str) else grades
    grades = grades or before or dict(collection.grades)
    if len(grades) < 2:
        raise InputError(
            f"'{collection.id}' does not define its grades: give "
            f"{option('grades', '0=not relevant,1=relevant', quoted=True)}."
        )
    return grades


def chosen_grades(text: str | None, store: Store, collection: Collection) -> Mapping[int, str]:
    """Return the grades to judge by, and record them beside the judgments.

    Raises:
        InputError: nobody has defined any, or one that documents have is not among them.
    """
    stored = json.loads(store.setting("grades", "{}"))
    before = {int(grade): definition for grade, definition in stored.items()}
    grades = defined_grades(text, before, collection)
    if others := sorted(store.grades() - {*grades}):
        raise InputError(
            f"documents of this pool have been given {listing(map(str, others))}, which "
            f"{option('grades')} does not define. Define these, too."
        )
    store.write_setting("grades", json.dumps(grades, ensure_ascii=False))
    return grades
