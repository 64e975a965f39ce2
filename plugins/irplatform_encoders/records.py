"""Records of bytes for the documents of a collection, kept in the cache as they are made.

Vectors of different lengths are such records. They are appended to one file, which is mapped into
memory. An interruption keeps what was made, several processes may fill one store, and records whose
checksums are wrong are made again.
"""

from __future__ import annotations

import errno
import fcntl
import os
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from irplatform.kit import ForwardIndex
from irplatform_encoders.pretrained import tell_how_slow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.kit import Int64
    from irplatform.plugin import Resources

    Bytes = npt.NDArray[np.uint8]
    Encode = Callable[[Iterable[list[str]]], Iterator[Sequence[bytes]]]

_BLOCK, _GPU_BLOCK = 128, 4096  # documents that are encoded before they are kept
_DATA, _ENTRIES = "records.bin", "entries.bin"
_ENTRY = np.dtype([("begin", "<i8"), ("size", "<i8"), ("check", "<u4"), ("own", "<u4")])
"""Where a record is, its checksum, and that of these three; zeros where there is none."""
_ALIGNED = 8
"""Records begin at multiples of so many bytes."""


class RecordBlock(NamedTuple):
    """Records of some documents.

    That of number `places[i]` among those asked for is `data[begins[i] : begins[i] + sizes[i]]`.
    Each begins at a multiple of 8 bytes.
    """

    places: Int64
    data: Bytes
    begins: Int64
    sizes: Int64


class DocumentRecords:
    """A record for each document of a collection, made when it is first asked for.

    Args:
        resources: of the collection.
        kind: of the artifact in the cache.
        identity: all that records depend on, beside the documents.
        encode: makes the records of blocks of documents from their texts, block by block.
        most_bytes: what all records may take up; None for any number. Records that do not fit are
            made again whenever they are asked for.
        option: names the setting of that limit in messages.
    """

    def __init__(
        self,
        resources: Resources,
        kind: str,
        identity: Mapping[str, object],
        encode: Encode,
        *,
        most_bytes: int | None = None,
        option: str = "",
    ) -> None:
        self._resources = resources
        self._encode = encode
        self._most_bytes = most_bytes
        self._option = option
        self._index = resources.forward_index()
        self.count = self._index.count
        folder = resources.artifact(
            kind,
            {**identity, "rows": ForwardIndex.FORMAT},
            lambda folder: _make(folder, self.count),
            of_vectors=False,
            filled_later=True,
        )
        self._files = _Files(folder, self.count)
        self._is_told = False

    def rows(self, doc_ids: Sequence[str]) -> Int64:
        """The numbers of documents by their ids."""
        return self._index.rows(doc_ids)

    def get(self, rows: Int64, label: str = "encoding documents") -> list[RecordBlock]:
        """Records of documents: those in the cache, and those that do not fit there.

        Of texts that are scored in place of documents, none are kept.
        """
        if self._index.given_texts() is not None:
            (records,) = self._encode([self._texts(rows)])
            return [_in_memory([(np.arange(len(rows)), list(records))])]
        is_whole = self._check(rows)
        missing = np.flatnonzero(~is_whole)
        rest: list[tuple[Int64, list[bytes]]] = []
        for places, records in self._new_records(rows, missing, label):
            number = self._keep(rows[places], records)
            is_whole[places[:number]] = True
            if number < len(places):
                rest.append((places[number:], list(records[number:])))
        places = np.flatnonzero(is_whole)
        begins, sizes = self._files.spans(rows[places])
        blocks = [RecordBlock(places, self._files.data, begins, sizes)] if len(places) else []
        if rest:
            blocks.append(_in_memory(rest))
        return blocks

    def fill(self, rows: Int64 | None = None, label: str = "encoding documents") -> None:
        """Make the records of documents, of all by default, that are not there and fit."""
        rows = np.arange(self.count) if rows is None else rows
        if self._is_full() or self._index.given_texts() is not None:
            return
        for places, records in self._new_records(rows, np.flatnonzero(~self._check(rows)), label):
            if self._keep(rows[places], records) < len(places):
                return

    def _check(self, rows: Int64) -> npt.NDArray[np.bool_]:
        is_whole, damaged = self._files.check(rows)
        if damaged:
            self._resources.notice(f"{damaged:,} vectors of documents are damaged, and made again")
        return is_whole

    def _new_records(
        self, rows: Int64, missing: Int64, label: str
    ) -> Iterator[tuple[Int64, Sequence[bytes]]]:
        if not len(missing):
            return
        tell_how_slow(self._resources, len(missing))
        self._tell_if_too_many(len(missing), self._files.mean_size())
        size = _BLOCK if self._resources.device == "cpu" else _GPU_BLOCK
        blocks = [missing[at : at + size] for at in range(0, len(missing), size)]
        try:
            with self._resources.progress(label, len(missing), "documents") as advance:
                texts = (self._texts(rows[places]) for places in blocks)
                for places, records in zip(blocks, self._encode(texts), strict=True):
                    mean = sum(map(len, records)) / len(records)
                    self._tell_if_too_many(len(missing), mean)
                    yield places, records
                    advance(len(places))
        except KeyboardInterrupt as error:
            error.add_note("The vectors of documents that were encoded are kept.")
            raise

    def _texts(self, rows: Int64) -> list[str]:
        return [document.text for document in self._resources.documents(self._index.doc_ids(rows))]

    def _tell_if_too_many(self, documents: int, mean_size: float) -> None:
        if self._most_bytes is None or self._is_told:
            return
        room = max(0, self._most_bytes - self._files.size())
        if documents * mean_size > room:
            self._is_told = True
            self._resources.notice(
                f"Vectors of {documents:,} documents take about {_gigabytes(documents * mean_size)}"
                f", and {_gigabytes(room)} are left of {self._option}: what does not fit is encoded"
                " again whenever it is asked for"
            )

    def _is_full(self) -> bool:
        return self._most_bytes is not None and self._files.size() >= self._most_bytes

    def _keep(self, rows: Int64, records: Sequence[bytes]) -> int:
        try:
            return self._files.add(rows, records, self._most_bytes)
        except OSError as error:  # another user's cache cannot be added to
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            return 0


class _Files:
    """The records' data, and an entry for each document."""

    def __init__(self, folder: Path, count: int) -> None:
        self._folder = folder
        self._entries = np.memmap(folder / _ENTRIES, _ENTRY, "r", shape=(count,))
        self._checked = np.zeros(count, bool)
        self.data: Bytes = np.zeros(0, np.uint8)

    def check(self, rows: Int64) -> tuple[npt.NDArray[np.bool_], int]:
        """Which records are there and undamaged, and how many are damaged."""
        entries = np.array(self._entries[rows])  # another process may be adding some
        is_present = entries["own"] != 0
        is_whole = self._checked[rows]
        self._map(entries)
        for place in np.flatnonzero(is_present & ~is_whole):
            is_whole[place] = self._is_whole(entries[place])
        self._checked[rows[is_whole]] = True
        return is_whole, int((is_present & ~is_whole).sum())

    def _map(self, entries: npt.NDArray[np.void]) -> None:
        """Map the data again, if they have grown."""
        path = self._folder / _DATA
        ends = entries["begin"] + entries["size"]
        if ends.max(initial=0) > len(self.data) and path.stat().st_size > len(self.data):
            self.data = np.memmap(path, np.uint8, "r")

    def _is_whole(self, entry: np.void) -> bool:
        begin, size = int(entry["begin"]), int(entry["size"])
        if entry["own"] != _own_check(entry) or begin < 0 or begin + size > len(self.data):
            return False
        return zlib.crc32(self.data[begin : begin + size].data) == int(entry["check"])

    def spans(self, rows: Int64) -> tuple[Int64, Int64]:
        """Where records begin, and how long they are."""
        entries = np.array(self._entries[rows])
        self._map(entries)
        return entries["begin"].astype(np.int64), entries["size"].astype(np.int64)

    def size(self) -> int:
        """Bytes of all records."""
        return (self._folder / _DATA).stat().st_size

    def mean_size(self) -> float:
        """Bytes of a record, of some that are there; 0 without any."""
        sizes = self._entries["size"][: 1 << 20]
        record_sizes = sizes[sizes > 0]
        return float(record_sizes.mean()) if len(record_sizes) else 0.0

    def add(self, rows: Int64, records: Sequence[bytes], most_bytes: int | None) -> int:
        """Append records; return how many were kept, the first ones, since others do not fit."""
        entries = np.zeros(len(rows), _ENTRY)
        entries["size"] = [len(record) for record in records]
        entries["check"] = [zlib.crc32(record) for record in records]
        padded = -(-entries["size"] // _ALIGNED) * _ALIGNED
        with _opened(self._folder / _DATA) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # freed when the file is closed
            begin = -(-os.lseek(file, 0, os.SEEK_END) // _ALIGNED) * _ALIGNED
            ends = begin + np.cumsum(padded)
            number = len(rows) if most_bytes is None else int((ends <= most_bytes).sum())
            if not number:
                return 0
            entries["begin"] = ends - padded
            data = b"".join(
                r.ljust(n, b"\0") for r, n in zip(records, padded[:number], strict=False)
            )
            try:
                _write(file, data, begin)
            except OSError:
                os.ftruncate(file, begin)
                raise
            os.fsync(file)
        entries = entries[:number]
        for entry in entries:
            entry["own"] = _own_check(entry)
        with _opened(self._folder / _ENTRIES) as file:
            for row, entry in zip(rows[:number].tolist(), entries, strict=True):
                _write(file, entry.tobytes(), row * _ENTRY.itemsize)
            os.fsync(file)
        self._checked[rows[:number]] = True
        return number


def _make(folder: Path, count: int) -> None:
    (folder / _DATA).touch()
    with (folder / _ENTRIES).open("wb") as file:
        file.truncate(count * _ENTRY.itemsize)  # takes up no space yet


def _own_check(entry: np.void) -> int:
    """The checksum of an entry, never 0."""
    return zlib.crc32(entry.tobytes()[:-4]) or 1


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR)
    try:
        yield file
    finally:
        os.close(file)


def _write(file: int, data: bytes, begin: int) -> None:
    # Written and not mapped: a full disk is an error then, and no signal.
    view = memoryview(data)
    while view:
        count = os.pwrite(file, view, begin)
        if not count:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view, begin = view[count:], begin + count


def _in_memory(records: Sequence[tuple[Int64, list[bytes]]]) -> RecordBlock:
    """Records in memory, as `RecordBlock` has them."""
    flat = [record for _, group in records for record in group]
    sizes = np.array([len(record) for record in flat], np.int64)
    padded = -(-sizes // _ALIGNED) * _ALIGNED
    data = b"".join(r.ljust(n, b"\0") for r, n in zip(flat, padded, strict=True))
    places = np.concatenate([places for places, _ in records])
    return RecordBlock(places, np.frombuffer(data, np.uint8), np.cumsum(padded) - padded, sizes)


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:,.2f} GB" if size >= 1e7 else f"{size / 1e6:,.2f} MB"
