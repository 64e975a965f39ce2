"""Runs and judgments in memory, in the forms of other libraries.

- mappings of topic to document to score or grade, as pytrec_eval, ranx and ir_measures take them;
- frames of pandas or polars, with columns as PyTerrier, ir_measures or ranx name them;
- records with such names: ir_measures' `ScoredDoc` and `Qrel`, and dictionaries.

An id that is a whole number is its text: libraries make numbers of topics and PMIDs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from irplatform.data import SubtopicGrades
from irplatform.errors import InputError, listing, quoted
from irplatform.runs.fields import place_of, places, plain
from irplatform.runs.results import Found, by_topic, in_order
from irplatform.runs.run import Ranking, Run

if TYPE_CHECKING:
    from irplatform.data import Qrels

_REMEDY = (
    "Give scores as irplatform.Run(name, {topic: {document: score}}), and ranks in a frame or "
    "records with a column 'rank'."
)
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
        InputError: there is no such column; the scores may be ranks; or see `by_topic`.
    """
    if isinstance(given, Run):
        return given
    ready: dict[str, Any] = {}
    if isinstance(given, Mapping):
        ready = {t: ranking for t, ranking in given.items() if isinstance(ranking, Ranking)}
        given = {t: results for t, results in given.items() if t not in ready}
    found = in_order([*_found(given, "score", "run")], None, _REMEDY)
    return Run(name, ready | by_topic(found))


def qrels_of(given: Any) -> Qrels:
    """Return judgments; whole grades are whole numbers, unless others have decimals.

    Raises:
        InputError: as `run_of`.
    """
    diverse: dict[str, Mapping[str, float]] = {}
    if isinstance(given, Mapping):
        diverse = {str(t): g for t, g in given.items() if isinstance(g, SubtopicGrades)}
        given = {t: grades for t, grades in given.items() if str(t) not in diverse}
    graded = by_topic(_found(given, "grade", "judgments"), "grade")
    if all(grade.is_integer() for grades in graded.values() for grade in grades.values()):
        return diverse | {t: {d: int(g) for d, g in graded[t].items()} for t in graded}
    return diverse | graded


def _found(given: Any, value: str, what: str) -> Iterator[Found]:
    """The results, or the judgments, whose grades stand for scores."""
    if isinstance(given, Mapping):
        for topic, documents in given.items():
            if not isinstance(documents, Mapping):
                raise InputError(
                    f"the {what} of topic {quoted(topic)}: {quoted(documents)} does not map "
                    f"documents to {value}s."
                )
            for document, number in documents.items():
                yield Found(None, topic, document, None, number, named=False)
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
        at["score"] = place_of(_GRADE, [*map(plain, names)])
    by_rank = value == "score" and "score" not in at
    column = at.get("rank" if by_rank else "score", -1)
    if column < 0 or not {"topic", "document"} <= at.keys():
        raise InputError(
            f"the {what} need columns such as query_id, doc_id and {value}; they have "
            f"{listing(names)}."
        )
    for cells in map(tuple, rows):
        number = cells[column]
        numbers = (number, None) if by_rank else (None, number)
        yield Found(None, cells[at["topic"]], cells[at["document"]], *numbers)


def _names(record: object) -> list[str]:
    """The names of a record's values; none if it is no record of a topic and a document."""
    names = [*record] if isinstance(record, Mapping) else getattr(record, "_fields", ())
    texts = [name for name in names if isinstance(name, str)]
    return texts if {"topic", "document"} <= places(texts).keys() else []
