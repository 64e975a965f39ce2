"""Sparse vectors in JSON, as Anserini and Pyserini read and write them.

Of documents, each is `{"id": "d1", "vector": {"lung": 120, "cancer": 87}}`, with more keys that are
not read: one a line, or an array, in a file or in the files of a folder, which may be gzipped. Of
queries, they are the same, or lines of a topic's id, a tab, and words that are repeated as often as
they weigh.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections import Counter
from typing import IO, TYPE_CHECKING, Any

import orjson

from irplatform.kit import open_bytes
from irplatform.plugin import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_ENDINGS = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
_SHAPE = 'An object is {"id": "d1", "vector": {"lung": 120, "cancer": 87}}'
_LARGEST = 1e30
"""A larger weight, and sums of such, may be no finite number in 32 bits."""
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
        InputError: no JSON, another shape, a weight below 0, an id that comes twice, or nothing.
    """
    doc_ids: set[str] = set()
    for file in files_of(path):
        for line, record in _objects(file):
            doc_id = _id(record, file, line)
            if doc_id in doc_ids:
                raise InputError(f"'{doc_id}' comes twice.", path=file, line=line)
            doc_ids.add(doc_id)
            yield doc_id, _weights(record, file, line)
    if not doc_ids:
        raise InputError(f"has no vectors. {_SHAPE}.", path=path)


def read_queries(path: Path) -> dict[str, Weights]:
    """The weights of each topic, from objects or from lines with repeated words."""
    first = next((line for _, line in _lines(path)), b"").lstrip()
    if first.startswith((b"{", b"[")):
        return dict(read_vectors(path))
    queries: dict[str, Weights] = {}
    for number, line in _lines(path):
        try:
            topic, _, words = (part.strip() for part in line.decode().partition("\t"))
        except UnicodeDecodeError as error:
            raise InputError("is no UTF-8.", path=path, line=number) from error
        if not topic or b"\t" not in line:
            raise InputError(
                "this line has no topic's id and a tab before its words.", path=path, line=number
            )
        if topic in queries:
            raise InputError(f"topic '{topic}' comes twice.", path=path, line=number)
        queries[topic] = {word: float(times) for word, times in Counter(words.split()).items()}
    return queries


def write_vectors(file: IO[bytes], vectors: Iterable[tuple[str, Mapping[str, float]]]) -> None:
    """Write objects, one a line."""
    for doc_id, weights in vectors:
        record = {"id": doc_id, "contents": "", "vector": weights}
        file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def _objects(path: Path) -> Iterator[tuple[int | None, Any]]:
    """The objects of a file, with their lines; without a line in a file that is one value."""
    if path.name.removesuffix(".gz").endswith(".json"):
        with open_bytes(path) as file:
            content = file.read().removeprefix(BOM_UTF8)
        try:
            value = orjson.loads(content)
        except orjson.JSONDecodeError:
            pass  # several objects, one a line
        else:
            for record in value if isinstance(value, list) else [value]:
                yield None, record
            return
    for number, line in _lines(path):
        try:
            yield number, orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InputError(
                f"is no JSON: {error}. {_SHAPE}, one a line.", path=path, line=number
            ) from error


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            text = line.removeprefix(BOM_UTF8) if number == 1 else line
            if text.strip():
                yield number, text


def _id(record: Any, path: Path, line: int | None) -> str:
    doc_id = record.get("id", record.get("_id")) if isinstance(record, dict) else None
    if type(doc_id) is int:
        return str(doc_id)
    if not isinstance(doc_id, str) or not doc_id.strip():
        raise InputError(f"there is no id. {_SHAPE}.", path=path, line=line)
    return doc_id


def _weights(record: Any, path: Path, line: int | None) -> Weights:
    vector = record.get("vector")
    if not isinstance(vector, dict):
        kind = "a list of numbers, so it is dense" if isinstance(vector, list) else "missing"
        raise InputError(f'its "vector" is {kind}. {_SHAPE}.', path=path, line=line)
    for word, weight in vector.items():
        if type(weight) not in (int, float) or not 0 <= weight <= _LARGEST:
            raise InputError(
                f"the weight of '{word}' is {weight!r}, and no number from 0 to {_LARGEST:.2g}.",
                path=path,
                line=line,
            )
    return {word: float(weight) for word, weight in vector.items() if weight > 0}
