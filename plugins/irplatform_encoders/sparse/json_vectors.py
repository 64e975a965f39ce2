"""Sparse vectors in JSON, as Anserini and Pyserini read and write them.

Of documents, each is `{"id": "d1", "vector": {"lung": 120, "cancer": 87}}`, with more keys that are
not read: one a line, or an array, in a file or in the files of a folder, which may be gzipped. Of
queries, they are the same, or lines of a topic's id, a tab, and words that are repeated as often as
they weigh.
"""

from __future__ import annotations

import gzip
from collections import Counter
from typing import IO, TYPE_CHECKING, Any

import orjson

from irplatform.plugin import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_ENDINGS = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
_SHAPE = 'An object is {"id": "d1", "vector": {"lung": 120, "cancer": 87}}'
Weights = dict[str, float]


def files_of(path: Path) -> list[Path]:
    """The files with vectors: one, or those of a folder; InputError if there are none."""
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.name.endswith(_ENDINGS))
    if not files:
        raise InputError(f"has no files of vectors: {', '.join(_ENDINGS)}.", path=path)
    return files


def read_vectors(path: Path) -> Iterator[tuple[str, Weights]]:
    """Yield the id and the weights above 0 of each object of files, in their order.

    Raises:
        InputError: no JSON, another shape, a weight below 0, or an id that comes twice.
    """
    seen: set[str] = set()
    for file in files_of(path):
        for line, record in _objects(file):
            doc_id = _id(record, file, line)
            if doc_id in seen:
                raise InputError(f"'{doc_id}' comes twice.", path=file, line=line)
            seen.add(doc_id)
            yield doc_id, _weights(record, file, line)


def read_queries(path: Path) -> dict[str, Weights]:
    """The weights of each topic, from objects or from lines with repeated words."""
    with _opened(path) as lines:
        first = next((line.lstrip()[:1] for line in lines if line.strip()), b"")
    if first in (b"{", b"["):
        return dict(read_vectors(path))
    queries: dict[str, Weights] = {}
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                topic, tab, words = line.decode().rstrip("\r\n").partition("\t")
            except UnicodeDecodeError as error:
                raise InputError("is no UTF-8.", path=path, line=number) from error
            if not line.strip():
                continue
            if not tab or not topic.strip() or topic.strip() in queries:
                raise InputError(
                    "this line has no topic's id and a tab before its words."
                    if not tab or not topic.strip()
                    else f"topic '{topic.strip()}' comes twice.",
                    path=path,
                    line=number,
                )
            queries[topic.strip()] = {w: float(n) for w, n in Counter(words.split()).items()}
    return queries


def write_vectors(file: IO[bytes], vectors: Iterable[tuple[str, Mapping[str, float]]]) -> None:
    """Write objects, one a line."""
    for doc_id, weights in vectors:
        record = {"id": doc_id, "contents": "", "vector": weights}
        file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def _objects(path: Path) -> Iterator[tuple[int | None, Any]]:
    """The objects of a file, with their lines; without a line in a file that is one value."""
    if path.name.removesuffix(".gz").endswith(".json"):
        with _opened(path) as file:
            content = file.read()
        try:
            whole = orjson.loads(content)
        except orjson.JSONDecodeError:
            pass  # several objects, one a line
        else:
            for record in whole if isinstance(whole, list) else [whole]:
                yield None, record
            return
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield number, orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    raise InputError(
                        f"is no JSON: {error}. {_SHAPE}, one a line.", path=path, line=number
                    ) from error


def _id(record: Any, path: Path, line: int | None) -> str:
    found = record.get("id", record.get("_id")) if isinstance(record, dict) else None
    if type(found) is int:
        return str(found)
    if not isinstance(found, str) or not found.strip():
        raise InputError(f"there is no id. {_SHAPE}.", path=path, line=line)
    return found


def _weights(record: Any, path: Path, line: int | None) -> Weights:
    vector = record.get("vector")
    if not isinstance(vector, dict):
        kind = "a list of numbers, so it is dense" if isinstance(vector, list) else "missing"
        raise InputError(f'its "vector" is {kind}. {_SHAPE}.', path=path, line=line)
    for word, weight in vector.items():
        if type(weight) not in (int, float) or weight < 0:
            raise InputError(
                f"the weight of '{word}' is {weight!r}, and no number of 0 or more.",
                path=path,
                line=line,
            )
    return {word: float(weight) for word, weight in vector.items() if weight > 0}


def _opened(path: Path) -> Any:
    try:
        return gzip.open(path) if path.suffix == ".gz" else path.open("rb")
    except FileNotFoundError as error:
        raise InputError("there is no such file.", path=path) from error
