"""Runs in JSON, as ranx, pytrec_eval, mteb and other programs write them.

- `{"topic": {"document": score}}`, also below names of subsets and splits, beside metadata;
- `{"topic": [["document", score], …]}`, or lists of documents, best first;
- objects with keys such as qid, docid, rank and score, one a line or in a list;
- objects of a topic with a list of its results, as rank_llm writes them;
- `{"qid": […], "docid": […], "score": […]}`, the columns of a frame.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, counted, listing
from irplatform.files.formats import JSONError, parse_json
from irplatform.files.reading import in_utf_8, read_whole
from irplatform.runs.fields import COLUMNS, DOCUMENT, LISTS, place_of, places, plain
from irplatform.runs.results import RawResult, by_topic, in_order, number
from irplatform.runs.run import Ranking, Run
from irplatform.spelling import command, option
from irplatform.system.console import notice_once

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.runs.results import Order


def _no_run() -> str:
    """Return what is wrong with JSON that holds no run."""
    return (
        "this is JSON, not a run. Looked for were scores by topic and document, "
        '{"topic": {"document": score}}; lists of documents by topic; and objects with keys such '
        "as qid, docid, rank and score, one a line or in a list. "
        f"{command('submit check', task='TASK')} reads answers in JSON; to score those to "
        "BioASQ, name the run behind them."
    )


_MOST_BYTES = 1 << 31
_ABOUT = re.compile(r"meta|config|param|setting|args$|info$|version|time")
"""Names, in plain form, beside a run that say something about it."""
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


def read_json_run(path: Path) -> Run:
    """Read a run in JSON; documents without scores get falling ones by rank, or place in a list.

    Raises:
        InputError: it holds no run, or several; its scores may be ranks; see `by_topic`.
    """
    results = json_results(in_utf_8(read_whole(path, _MOST_BYTES)), path)
    if all(result.score is None for result in results):
        notice_once(f"{path}: there are no scores; ranks, or places in lists, give the order")
    rankings = {
        topic: Ranking.of([*scores], [*scores.values()], rounded=False)
        for topic, scores in by_topic(results, path=path).items()
    }
    tag = next((str(result.tag) for result in results if result.tag is not None), "")
    return Run(tag or path.name.split(".")[0], rankings, path)


def json_results(content: bytes, path: Path, order: Order | None = None) -> Sequence[RawResult]:
    """Return the results of a run in JSON, in the order of the file.

    Raises:
        InputError: this is not JSON, or holds no run, or several; or its scores may be ranks, and
            `order` does not say what holds.
    """
    fix = command(f"submit fix {path} -o NEW.run")
    remedy = f"{fix} writes a run: with {option('order', 'ranks')}, or scores."
    return in_order([*_results(content, path)], order, remedy, path)


def _results(content: bytes, path: Path) -> Iterator[RawResult]:
    for line, value in _values(content, path):
        runs = [*_runs_in(value, (), path)]
        if len(runs) != 1:
            names = listing(", ".join(names) for names, _ in runs)
            several = f"this JSON has {counted(len(runs), 'run')}: {names}. Give each its own file."
            raise InputError(several if runs else _no_run(), path=path, line=line)
        ((_, run),) = runs
        if isinstance(run, list):
            for record in run:
                yield from _of_record(record, line)
        else:
            for topic, ranking in run.items():
                yield from _ranked(ranking, line, topic)


def _values(content: bytes, path: Path) -> Iterator[tuple[int | None, Any]]:
    """Yield the one value of a file, or each of several; NaN is read, as Python writes it."""
    try:
        yield None, parse_json(content)
        return
    except JSONError:
        text = content.decode("utf-8", "replace")
    line, end, counted_to = 1, 0, 0
    while (begin := end + len(_BETWEEN.match(text, end)[0])) < len(text):  # type: ignore[index]
        line += text.count("\n", counted_to, begin)
        counted_to = begin
        try:
            value, end = _DECODER.raw_decode(text, begin)
        except (json.JSONDecodeError, RecursionError) as error:
            reason = getattr(error, "msg", "nested too deeply")
            raise JSONError(f"this is not JSON ({reason}).", path=path, line=line) from error
        yield line, value


def _runs_in(value: Any, names: tuple[str, ...], path: Path) -> Iterator[tuple[Any, Any]]:
    """Yield the runs inside a value, with the names above: lists of records, or topics."""
    if isinstance(value, list) and value and all(map(_is_record, value)):
        yield names, value
    if not isinstance(value, dict):
        return
    names_of_columns, rows = value.get("columns"), value.get("data")
    if isinstance(names_of_columns, list) and isinstance(rows, list):  # pandas' split
        value = dict(zip(names_of_columns, map(list, zip(*rows, strict=False)), strict=False))
    at = places([*value])
    columns = [*value.values()]
    if {"topic", "document"} <= at.keys() and all(isinstance(cells, dict) for cells in columns):
        columns = [[*cells.values()] for cells in columns]  # pandas' columns, with an index in each
    if {"topic", "document"} <= at.keys() and all(isinstance(cells, list) for cells in columns):
        rows = zip(*columns, strict=False)
        yield names, [dict(zip(value, row, strict=True)) for row in rows]
        return
    if _is_record(value):
        yield names, [value]
        return
    if columns and all(_is_record(entry) and not _is_ranking(entry) for entry in columns):
        yield names, columns
        return
    inner = {
        name: part
        for name, part in value.items()
        if isinstance(part, dict | list) and not _ABOUT.search(plain(name))
    }
    rankings = [
        name for name, part in inner.items() if plain(name) not in LISTS and _is_ranking(part)
    ]
    others = [name for name, part in inner.items() if part and name not in {*rankings}]
    if len(rankings) <= len(others):
        for name, part in inner.items():
            yield from _runs_in(part, (*names, name), path)
        return
    if others:
        fault = f"topic '{others[0]}' has no documents with scores. {_no_run()}"
        raise InputError(fault, path=path)
    if passed := value.keys() - inner.keys():
        notice_once(f"{path}: ignored keys: {listing(sorted(passed))}")
    yield names, inner


def _is_ranking(value: Any) -> bool:
    value = _unwrapped(value)
    if isinstance(value, dict):
        is_result = {"rank", "score"} & {*map(plain, value)}
        return bool(value and not is_result) and all(
            score is None or number(score) is not None for score in value.values()
        )
    return isinstance(value, list) and bool(value) and all(map(_is_result, value))


def _is_result(value: Any) -> bool:
    if isinstance(value, dict):
        at = places([*value])
        return "document" in at and bool(at.keys() & {"rank", "score"}) and "topic" not in at
    if isinstance(value, list):
        return len(value) == 2 and any(number(part) is not None for part in value)
    return isinstance(value, str | int)


def _unwrapped(value: Any) -> Any:
    """The list below names such as hits, which Elasticsearch has twice."""
    while isinstance(value, dict):
        place = place_of(LISTS, [*map(plain, value)])
        if place < 0 or not isinstance(inner := [*value.values()][place], dict | list):
            break
        value = inner
    return value


def _is_record(value: Any) -> bool:
    """Return whether an object is a result with its topic, or a topic with its results."""
    read = _columns(value) if isinstance(value, dict) else {}
    if isinstance(read.get("topic"), dict | list | None):
        return False
    return isinstance(read.get("document"), str | int | float) or _is_ranking(_unwrapped(value))


def _columns(record: dict[str, Any]) -> dict[str, Any]:
    """The values of an object, by the columns of a run."""
    values = [*record.values()]
    read = {column: values[place] for column, place in places([*record]).items()}
    return read | {name: _id_in(read[name]) for name in ("topic", "document") if name in read}


def _id_in(value: Any) -> Any:
    """The id in an object such as {"pmid": 7}, or the value itself."""
    if isinstance(value, dict):
        usual = (*COLUMNS["topic"], *DOCUMENT, "id")
        place = place_of(usual, [*map(plain, value)])
        return [*value.values()][place] if place >= 0 else value
    return value


def _of_record(record: dict[str, Any], line: int | None) -> Iterator[RawResult]:
    read = _columns(record)
    topic, tag = read["topic"], read.get("tag")
    if isinstance(document := read.get("document"), str | int | float):
        yield RawResult(line, topic, document, read.get("rank"), read.get("score"), tag)
        return
    yield from _ranked(record, line, topic, tag)


def _ranked(ranking: Any, line: int | None, topic: Any, tag: Any = None) -> Iterator[RawResult]:
    """Yield the results of a topic; scores have a name in objects alone."""
    ranking = _unwrapped(ranking)
    if isinstance(ranking, dict):
        for document, score in ranking.items():
            yield RawResult(line, topic, document, None, score, tag, is_named=False)
        return
    for place, result in enumerate(ranking, start=1):
        if isinstance(result, dict):
            read = _columns(result)
            yield RawResult(line, topic, read["document"], read.get("rank"), read.get("score"), tag)
        elif isinstance(result, list):
            reverse = number(result[1]) is None or isinstance(result[0], float)
            document, score = reversed(result) if reverse else result
            yield RawResult(line, topic, document, None, score, tag, is_named=False)
        else:
            yield RawResult(line, topic, result, place, None, tag)
