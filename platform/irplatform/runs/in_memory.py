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
from irplatform.runs.results import RawResult, by_topic, in_order
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
        if any(isinstance(results, Ranking) for results in value.values()):
            return True
        inner = [
            i
            for results in value.values()
            if isinstance(results, Mapping)
            for i in results.values()
        ]
        return bool(inner) and not any(isinstance(part, Mapping | Ranking) for part in inner)
    return is_frame(value) or (isinstance(value, list) and bool(value) and bool(_names(value[0])))


def run_of(source: Any, name: str = "run") -> Run:
    """Return a run; without scores, ranks give the order.

    Raises:
        InputError: there is no such column; the scores may be ranks; or see `by_topic`.
    """
    if isinstance(source, Run):
        return source
    ready: dict[str, Any] = {}
    if isinstance(source, Mapping):
        ready = {t: ranking for t, ranking in source.items() if isinstance(ranking, Ranking)}
        source = {t: results for t, results in source.items() if t not in ready}
    records = in_order([*_raw_results(source, "score", "run")], None, _REMEDY)
    return Run(name, ready | by_topic(records))


def qrels_of(source: Any) -> Qrels:
    """Return judgments; whole grades are whole numbers, unless others have decimals.

    Raises:
        InputError: as `run_of`.
    """
    diverse: dict[str, Mapping[str, float]] = {}
    if isinstance(source, Mapping):
        diverse = {str(t): g for t, g in source.items() if isinstance(g, SubtopicGrades)}
        source = {t: grades for t, grades in source.items() if str(t) not in diverse}
    graded = by_topic(_raw_results(source, "grade", "judgments"), "grade")
    if all(grade.is_integer() for grades in graded.values() for grade in grades.values()):
        return diverse | {t: {d: int(g) for d, g in graded[t].items()} for t in graded}
    return diverse | graded


def _raw_results(source: Any, value: str, noun: str) -> Iterator[RawResult]:
    """The results, or the judgments, whose grades stand for scores."""
    if isinstance(source, Mapping):
        for topic, documents in source.items():
            if not isinstance(documents, Mapping):
                raise InputError(
                    f"the {noun} of topic {quoted(topic)}: {quoted(documents)} does not map "
                    f"documents to {value}s."
                )
            for document, number in documents.items():
                yield RawResult(None, topic, document, None, number, is_named=False)
        return
    source = source.collect() if is_frame(source) and hasattr(source, "collect") else source
    if is_frame(source):
        names = [*map(str, source.columns)]
        rows: Iterable[Any] = zip(*(source[name] for name in source.columns), strict=True)
    else:
        rows = [] if isinstance(source, str) or not isinstance(source, Iterable) else [*source]
        names = _names(rows[0]) if rows else []
        if not names or any(_names(row) != names for row in rows):
            raise InputError(
                f"the {noun}: {quoted(source)} is no mapping of topic to document to {value}, no "
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
            f"the {noun} need columns such as query_id, doc_id and {value}; they have "
            f"{listing(names)}."
        )
    for cells in map(tuple, rows):
        number = cells[column]
        numbers = (number, None) if by_rank else (None, number)
        yield RawResult(None, cells[at["topic"]], cells[at["document"]], *numbers)


def _names(record: object) -> list[str]:
    """The names of a record's values; none if it is no record of a topic and a document."""
    names = [*record] if isinstance(record, Mapping) else getattr(record, "_fields", ())
    texts = [name for name in names if isinstance(name, str)]
    return texts if {"topic", "document"} <= places(texts).keys() else []
