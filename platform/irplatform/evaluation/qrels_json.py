"""Judgments in JSON.

mteb has an object a line, with the keys query-id, corpus-id and score; others have other names for
these, or a list of such objects. ranx and pytrec_eval have `{"topic": {"document": grade}}`.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, counted, listing
from irplatform.evaluation.qrel_values import Grades, places
from irplatform.system.console import notice_once
from irplatform.system.formats import JSONError, parse_json, read_json
from irplatform.system.reading import numbered_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from irplatform.evaluation.qrel_values import Judgment

_KEYS = (
    "Judgments in JSON are objects with the keys query-id, corpus-id and score, one a line or in a "
    'list; or one object, {"topic": {"document": grade}}; or BioASQ\'s, {"questions": […]}'
)


def reader(path: Path) -> Callable[[Path], Iterator[Judgment]] | None:
    """What reads a file of JSON; None where it has BioASQ's form.

    Raises:
        InputError: it is not JSON.
    """
    _, first = next(numbered_lines(path))
    try:
        value = parse_json(first)
    except JSONError:
        value = None  # not in a single line
    if isinstance(value, dict) and not _is_whole(value):
        return _of_lines
    whole = read_json(path, hint=f"{_KEYS}.")
    if isinstance(whole, dict) and "questions" in whole:
        return None
    return partial(_of_whole, whole=whole)


def _is_whole(value: dict[str, Any]) -> bool:
    """Whether an object is all of a file: BioASQ's, or topics with their documents."""
    return "questions" in value or (bool(value) and {*map(type, value.values())} == {dict})


def _of_lines(path: Path) -> Iterator[Judgment]:
    lines = numbered_lines(path)
    return _of_records(
        path, ((number, parse_json(line, path, number, hint=f"{_KEYS}.")) for number, line in lines)
    )


def _of_whole(path: Path, whole: Any) -> Iterator[Judgment]:
    """The judgments of a list of objects, or of an object with documents and grades by topics."""
    if not isinstance(whole, dict) or places([*whole]):
        records = whole if isinstance(whole, list) else [whole]
        yield from _of_records(path, ((None, record) for record in records))
        return
    grades = Grades(path)
    for topic, judged in whole.items():
        if not isinstance(judged, dict):
            raise InputError(f"under '{topic}' are no documents with grades. {_KEYS}.", path=path)
        for document, grade in judged.items():
            try:
                value = grades.at(None, str(grade).encode())
            except InputError as error:
                where = f"topic '{topic}', document '{document}'"
                raise InputError(f"{where}: {error.message}", path=path) from error
            yield None, topic, "", document, value


def _of_records(path: Path, records: Iterable[tuple[int | None, Any]]) -> Iterator[Judgment]:
    """The judgments of objects with topic, document and grade under their usual keys."""
    passed: Counter[str] = Counter()
    for number, record in records:
        if not isinstance(record, dict):
            raise InputError(f"a judgment is no JSON object. {_KEYS}.", path=path, line=number)
        keys = list(record)
        if (at := places(keys)) is None:
            raise InputError(
                f"topic, document or grade is missing (keys: {listing(keys) or 'none'}). {_KEYS}.",
                path=path,
                line=number,
            )
        topic, document, grade = (record[keys[place]] for place in at)
        passed.update(key for place, key in enumerate(keys) if place not in at)
        yield (
            number,
            _identifier(topic, keys[at[0]], path, number),
            "",
            _identifier(document, keys[at[1]], path, number),
            Grades(path, keys[at[2]]).at(number, str(grade).encode()),
        )
    if passed:
        counts = [f"{key} ({counted(times, 'judgment')})" for key, times in passed.items()]
        notice_once(f"{path}: keys that are not read: {listing(counts)}")


def _identifier(value: Any, key: str, path: Path, line: int | None) -> str:
    if type(value) is int:  # True is an instance of int
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            f"the id under '{key}' is {value!r}. Write it as text, or as a whole number.",
            path=path,
            line=line,
        )
    return value
