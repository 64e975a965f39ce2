"""Runs and judgments in memory, in the forms of other libraries.

- mappings of topic to document to score or grade, as pytrec_eval, ranx and ir_measures take them;
- frames of pandas or polars, with columns as PyTerrier, ir_measures or ranx name them;
- records with such names: ir_measures' `ScoredDoc` and `Qrel`, and dictionaries.

An id that is a whole number is its text: libraries make numbers of topics and PMIDs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from irplatform.data import SubtopicGrades
from irplatform.errors import InputError, listing, quoted
from irplatform.runs.fields import place_of, places, plain
from irplatform.runs.run import Ranking, Run, id_text

if TYPE_CHECKING:
    from irplatform.data import Qrels

_GRADE = ("relevance", "label", "grade", "rel", "score", "judgment", "level")


def is_frame(value: object) -> bool:
    """Tell frames of pandas and polars from other objects."""
    return hasattr(type(value), "columns") and hasattr(value, "__getitem__")


def is_results(value: object) -> bool:
    """Tell one run, in any of these forms, from several."""
    if isinstance(value, Mapping):
        if any(isinstance(each, Ranking) for each in value.values()):
            return True
        inner = [i for each in value.values() if isinstance(each, Mapping) for i in each.values()]
        return bool(inner) and not any(isinstance(each, Mapping | Ranking) for each in inner)
    return is_frame(value) or (isinstance(value, list) and bool(value) and bool(_names(value[0])))


def run_of(given: Any, name: str = "run") -> Run:
    """Return a run; without scores, ranks give the order.

    Raises:
        InputError: there is no such column, an id is no text, a score is no number, or a document
            comes twice.
    """
    if isinstance(given, Run):
        return given
    ready: dict[str, Any] = {}
    if isinstance(given, Mapping):
        ready = {t: ranking for t, ranking in given.items() if isinstance(ranking, Ranking)}
        given = {t: results for t, results in given.items() if t not in ready}
    return Run(name, ready | _by_topic(given, "score", "run"))


def qrels_of(given: Any) -> Qrels:
    """Return judgments; whole grades are whole numbers, unless others have decimals.

    Raises:
        InputError: as `run_of`.
    """
    diverse: dict[str, Mapping[str, float]] = {}
    if isinstance(given, Mapping):
        diverse = {str(t): g for t, g in given.items() if isinstance(g, SubtopicGrades)}
        given = {t: grades for t, grades in given.items() if str(t) not in diverse}
    graded = _by_topic(given, "grade", "judgments")
    if all(grade.is_integer() for grades in graded.values() for grade in grades.values()):
        return diverse | {t: {d: int(g) for d, g in graded[t].items()} for t in graded}
    return diverse | graded


def _by_topic(given: Any, value: str, what: str) -> dict[str, dict[str, float]]:
    """Topic to document to number, with ids as texts."""
    topics: dict[str, dict[str, float]] = {}
    for topic_id, doc_id, number in _rows(given, value, what):
        topic, document = id_text(topic_id, "a topic"), id_text(doc_id, "a document")
        if document in topics.setdefault(topic, {}):
            raise InputError(f"document '{document}' comes twice for topic '{topic}'.")
        topics[topic][document] = _number(number, f"the {value} of '{document}' for '{topic}'")
    return topics


def _rows(given: Any, value: str, what: str) -> Iterator[tuple[Any, Any, Any]]:
    """The topic, document and value of each result or judgment."""
    if isinstance(given, Mapping):
        for topic, documents in given.items():
            if not isinstance(documents, Mapping):
                raise InputError(
                    f"the {what} of topic {quoted(topic)}: {quoted(documents)} does not map "
                    f"documents to {value}s."
                )
            yield from ((topic, document, number) for document, number in documents.items())
        return
    given = given.collect() if is_frame(given) and hasattr(given, "collect") else given
    if is_frame(given):
        names = [*map(str, given.columns)]
        rows: Iterable[Any] = zip(*(given[name] for name in given.columns), strict=True)
    else:
        rows = [] if isinstance(given, str) or not isinstance(given, Iterable) else [*given]
        names = _names(rows[0]) if rows else []
        if not names or any(_names(row) != names for row in rows):
            raise InputError(
                f"the {what}: {quoted(given)} is no mapping of topic to document to {value}, no "
                "frame, and no list of records with names."
            )
        rows = (row.values() if isinstance(row, Mapping) else row for row in rows)
    at = places(names)
    if value == "grade":
        at["grade"] = place_of(_GRADE, [*map(plain, names)])
    by_rank = value == "score" and "score" not in at
    column = at.get("rank" if by_rank else value, -1)
    if column < 0 or not {"topic", "document"} <= at.keys():
        raise InputError(
            f"the {what} need columns such as query_id, doc_id and {value}; they have "
            f"{listing(names)}."
        )
    for cells in map(tuple, rows):
        number = -_number(cells[column], "a rank") if by_rank else cells[column]
        yield cells[at["topic"]], cells[at["document"]], number


def _names(record: object) -> list[str]:
    """The names of a record's values; none if it is no record of a topic and a document."""
    names = [*record] if isinstance(record, Mapping) else getattr(record, "_fields", ())
    texts = [name for name in names if isinstance(name, str)]
    return texts if {"topic", "document"} <= places(texts).keys() else []


def _number(value: Any, what: str) -> float:
    number = math.nan
    with suppress(TypeError, ValueError, OverflowError):
        number = math.nan if isinstance(value, str | bytes) else float(value)
    if not math.isfinite(number):
        raise InputError(f"{what} is {quoted(value)}; it must be a number.")
    return number
