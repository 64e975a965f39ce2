"""When an article was published, as far as its record says.

A journal issue's date may be a year, a month, a day, a season, or free text ("1998 Dec-1999 Jan",
"Spring 1994"). The year is the first that is named; a month or day is given only where it is plain.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_FREE = re.compile(r"(\d{4}) ([A-Za-z]{3})[a-z]*(?: (\d{1,2}))?(?![\w-])")


def publication_date(inner: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """The date: of the issue or book, else of the electronic version, else of the entry.

    Returns:
        "", "2017", "2017-03" or "2017-03-09".
    """
    issue = children(children(inner.get("Journal")).get("JournalIssue")).get("PubDate")
    entered = (e for e in data.get("History", ()) if e.get("PubStatus") == "pubmed")
    book = children(inner.get("Book")).get("PubDate")
    for element in chain((issue, book, inner.get("ArticleDate")), entered):
        if element is not None and (date := _date(element)):
            return date
    return ""


def children(element: Iterable[Any] | None) -> dict[str, Any]:
    """An element's children by name, the first of each."""
    by_name: dict[str, Any] = {}
    for child in () if element is None else element:
        by_name.setdefault(child.tag, child)
    return by_name


def _date(element: Any) -> str:
    part = {child.tag: (child.text or "").strip() for child in element}
    if "MedlineDate" in part:
        return _free_date(part["MedlineDate"])
    match = _YEAR.search(part.get("Year", ""))
    if not match:
        return ""
    return _joined(match[1], part.get("Month", ""), part.get("Day", ""))


def _free_date(text: str) -> str:
    plain = _FREE.fullmatch(text)
    if plain:
        return _joined(plain[1], plain[2], plain[3] or "")
    match = _YEAR.search(text)
    return match[1] if match else ""


def _joined(year: str, month: str, day: str) -> str:
    number = int(month) if month.isdecimal() else _month(month)
    if not 1 <= number <= 12:
        return year
    if not (day.isdecimal() and 1 <= int(day) <= 31):
        return f"{year}-{number:02}"
    return f"{year}-{number:02}-{int(day):02}"


def _month(name: str) -> int:
    short = name[:3].lower()
    return _MONTHS.index(short) + 1 if short in _MONTHS else 0
