"""CIFF, the Common Index File Format: postings of one program for another (Lin et al., ECIR 2020).

A file is a header, the postings of one term after the other, and a record per document, each a
message of Protocol Buffers after its length. Frequencies are whole numbers: those of a learned
sparse index are weights. The format has no place for what they are multiplied by.
"""

from __future__ import annotations

from functools import cache
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from irplatform.kit import open_bytes
from irplatform.plugin import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import BufferedIOBase
    from pathlib import Path

    from irplatform.kit import Float32, Int64

_VERSION = 1
_LONGEST_LENGTH = 10  # bytes of the length before a message
_KINDS = {"int32": 5, "int64": 3, "double": 1, "string": 9, "Posting": 11}
"""Types of fields by their numbers in `google.protobuf.descriptor.FieldDescriptor`."""
_FIELDS = {
    "Header": (
        "int32 version", "int32 num_postings_lists", "int32 num_docs", "int32 total_postings_lists",
        "int32 total_docs", "int64 total_terms_in_collection", "double average_doclength",
        "string description",
    ),
    "Posting": ("int32 docid", "int32 tf"),
    "PostingsList": ("string term", "int64 df", "int64 cf", "Posting postings"),
    "DocRecord": ("int32 docid", "string collection_docid", "int32 doclength"),
}  # fmt: skip
"""The format's messages, with their fields in the order of their numbers."""


@cache
def _messages() -> dict[str, Any]:
    """The classes of messages."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    package = "io.osirrc.ciff"
    pool = descriptor_pool.DescriptorPool()
    file = descriptor_pb2.FileDescriptorProto(name="ciff.proto", package=package, syntax="proto3")
    for message_name, fields in _FIELDS.items():
        message = file.message_type.add(name=message_name)
        for number, field in enumerate(fields, start=1):
            kind, field_name = field.split()
            repeated = kind == "Posting"
            message.field.add(
                name=field_name,
                number=number,
                type=_KINDS[kind],
                label=3 if repeated else 1,
                type_name=f".{package}.{kind}" if repeated else None,
            )
    pool.Add(file)
    types = {name: pool.FindMessageTypeByName(f"{package}.{name}") for name in _FIELDS}
    return {name: message_factory.GetMessageClass(of) for name, of in types.items()}


class CiffFile:
    """A file in CIFF, which may be gzipped.

    Attributes:
        doc_ids: the documents' ids, in the file's order.

    Raises:
        InputError: it is no such file, is cut short, or has a document twice.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with open_bytes(path) as file:
            header = self._next(file, "Header")
            if header.version != _VERSION:
                raise InputError(
                    f"is no CIFF file, or of another version than {_VERSION}: {header.version}.",
                    path=path,
                )
            self._lists, count = header.num_postings_lists, header.num_docs
            for _ in range(self._lists):
                self._skip(file)
            records = [self._next(file, "DocRecord") for _ in range(count)]
        self.doc_ids = [record.collection_docid for record in records]
        numbers = np.array([record.docid for record in records], dtype=np.int64)
        self._order = np.argsort(numbers)
        self._numbers = numbers[self._order]
        if not np.diff(self._numbers).all() or len({*self.doc_ids}) < count:
            raise InputError("has a document twice.", path=path)
        if not count:
            raise InputError("has no documents.", path=path)

    def postings(self) -> Iterator[tuple[str, Int64, Float32]]:
        """Yield each term with places of documents in `doc_ids`, and weights: whole numbers."""
        with open_bytes(self._path) as file:
            self._skip(file)
            terms: set[str] = set()
            for _ in range(self._lists):
                entry = self._next(file, "PostingsList")
                gaps = np.array([posting.docid for posting in entry.postings], dtype=np.int64)
                weights = np.array([posting.tf for posting in entry.postings], dtype=np.float32)
                numbers = np.cumsum(gaps)
                places = np.searchsorted(self._numbers, numbers).clip(max=len(self._numbers) - 1)
                for wrong, fault in (
                    (entry.term in terms, "come twice"),
                    ((gaps[1:] <= 0).any(), "do not ascend"),
                    ((self._numbers[places] != numbers).any(), "have a document without a record"),
                    ((weights < 0).any(), "have a weight below 0"),
                ):
                    if wrong:
                        message = f"the postings of '{entry.term}' {fault}."
                        raise InputError(message, path=self._path)
                terms.add(entry.term)
                yield entry.term, self._order[places], weights

    def _next(self, file: BufferedIOBase, name: str) -> Any:
        from google.protobuf.message import DecodeError

        content = file.read(size := self._size(file))
        try:
            if len(content) == size:
                return _messages()[name].FromString(content)
        except DecodeError as error:
            raise InputError(f"is no CIFF file: {error}.", path=self._path) from error
        raise InputError("ends early: is it copied whole?", path=self._path)

    def _skip(self, file: BufferedIOBase) -> None:
        file.seek(self._size(file), 1)

    def _size(self, file: BufferedIOBase) -> int:
        size, shift = 0, 0
        for _ in range(_LONGEST_LENGTH):
            if not (byte := file.read(1)):
                raise InputError("ends early: is it copied whole?", path=self._path)
            size |= (byte[0] & 0x7F) << shift
            shift += 7
            if byte[0] < 0x80:  # the last byte of a length
                return size
        raise InputError("is no CIFF file.", path=self._path)


def write_ciff(
    file: IO[bytes],
    doc_ids: Iterable[str],
    postings: Callable[[], Iterable[tuple[str, Int64, Int64]]],
    *,
    description: str,
) -> None:
    """Write postings: of each term, in order, ascending places of documents and weights.

    Weights are whole numbers of 1 or more. The sum of a document's is its length. `postings` is
    called twice.
    """
    ids = [*doc_ids]
    lengths = np.zeros(len(ids), dtype=np.int64)
    lists = 0
    for _, numbers, weights in postings():
        lengths[numbers] += weights
        lists += len(numbers) > 0
    total = int(lengths.sum())
    header = _messages()["Header"](
        version=_VERSION,
        num_postings_lists=lists,
        num_docs=len(ids),
        total_postings_lists=lists,
        total_docs=len(ids),
        total_terms_in_collection=total,
        average_doclength=total / max(1, len(ids)),
        description=description,
    )
    posting = _messages()["Posting"]
    _write(file, header)
    for term, numbers, weights in postings():
        if not len(numbers):
            continue
        gaps = np.diff(numbers, prepend=0).tolist()
        pairs = zip(gaps, weights.tolist(), strict=True)
        entries = [posting(docid=gap, tf=weight) for gap, weight in pairs]
        fields = {"term": term, "df": len(entries), "cf": int(weights.sum())}
        _write(file, _messages()["PostingsList"](postings=entries, **fields))
    for number, (doc_id, length) in enumerate(zip(ids, lengths.tolist(), strict=True)):
        record = _messages()["DocRecord"](docid=number, collection_docid=doc_id, doclength=length)
        _write(file, record)


def _write(file: Any, message: Any) -> None:
    content = message.SerializeToString()
    size, length = len(content), bytearray()
    while size >= 0x80:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    file.write(bytes(length) + bytes([size]) + content)
