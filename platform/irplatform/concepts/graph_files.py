"""Appends the documents' rows to files; goes on after a kill where the last batch ended."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from irplatform.errors import InputError
from irplatform.system.console import notice
from irplatform.system.formats import read_own_json
from irplatform.system.writing import atomic_write
from irplatform.text.arrays import ArrayWriter, Int32, map_array, write_array
from irplatform.text.forward_index import StringTableWriter

if TYPE_CHECKING:
    from pathlib import Path


_STATE = "progress.json"
_FILES = {
    "documents.lengths.int32": np.dtype("<i4"),
    "documents.indices.int32": np.dtype("<i4"),
    "documents.counts.int32": np.dtype("<i4"),
}
_IDS = "doc-ids.lines"
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Linked:
    """The concepts of some articles.

    Attributes:
        doc_ids: of the articles.
        lengths: distinct concepts of each.
        indices: those concepts, ascending within an article.
        counts: mentions of each.
        empty: how many of the articles have no text.
    """

    doc_ids: list[str]
    lengths: Int32
    indices: Int32
    counts: Int32
    empty: int


class RowWriter:
    """Writes the rows of documents in several attempts.

    Args:
        folder: what an earlier attempt left is cut back to its last complete batch.

    Attributes:
        documents: how many are written.
        empty: how many of them have no text.
        seconds: of work, over all attempts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        state: dict[str, Any] = {}
        if (folder / _STATE).exists():
            state = read_own_json(folder / _STATE)
        sizes: dict[str, int] = state.get("sizes", {})
        if any(_size(folder / name) < size for name, size in sizes.items()):
            notice("some of the concepts that were found got lost: starting over.")
            state, sizes = {}, {}
        self.documents: int = state.get("documents", 0)
        self.empty: int = state.get("empty", 0)
        self.seconds: float = state.get("seconds", 0.0)
        self._files: dict[str, IO[bytes]] = {}
        for name in (*_FILES, _IDS):
            path = folder / name
            path.touch()
            file = self._stack.enter_context(path.open("r+b"))
            file.truncate(sizes.get(name, 0))
            file.seek(0, 2)
            self._files[name] = file
        self._started = time.monotonic()

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, linked: Linked) -> None:
        """Append a batch; it is there to stay when this returns."""
        columns = (linked.lengths, linked.indices, linked.counts)
        for (name, dtype), values in zip(_FILES.items(), columns, strict=True):
            self._files[name].write(np.ascontiguousarray(values, dtype).data)
        self._files[_IDS].write("".join(f"{each}\n" for each in linked.doc_ids).encode())
        self.documents += len(linked.doc_ids)
        self.empty += linked.empty
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
        state = {
            "documents": self.documents,
            "empty": self.empty,
            "seconds": self.seconds + time.monotonic() - self._started,
            "sizes": {name: file.tell() for name, file in self._files.items()},
        }
        with atomic_write(self._folder / _STATE) as state_file:
            json.dump(state, state_file)

    def finish(self, concepts: int) -> dict[str, int]:
        """Complete the rows, once their files are closed.

        Args:
            concepts: how many there are.

        Returns:
            `documents`, `links`, `mentions`, `concepts_found`, `without_text`, `without_concept`.

        Raises:
            InputError: two documents have the same id (it is named).
        """
        folder = self._folder
        lengths = map_array(folder / "documents.lengths.int32", np.int32)
        indptr = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        write_array(folder / "documents.indptr.int64", indptr)
        indices = map_array(folder / "documents.indices.int32", np.int32)
        counts = map_array(folder / "documents.counts.int32", np.int32)
        frequency = np.zeros(concepts, np.int64)
        mentions = 0
        for start in range(0, len(indices), _AT_ONCE):
            frequency += np.bincount(indices[start : start + _AT_ONCE], minlength=concepts)
            mentions += int(counts[start : start + _AT_ONCE].sum(dtype=np.int64))
        write_array(folder / "document-frequency.int32", frequency.astype(np.int32))
        self._write_doc_ids()
        facts = {
            "documents": self.documents,
            "links": len(indices),
            "mentions": mentions,
            "concepts_found": int((frequency > 0).sum()),
            "without_text": self.empty,
            "without_concept": int((lengths == 0).sum()),
        }
        for name in (_STATE, "documents.lengths.int32", _IDS):  # a state would miss the others
            (folder / name).unlink(missing_ok=True)
        return facts

    def _write_doc_ids(self) -> None:
        with StringTableWriter(self._folder, "doc-ids") as writer:
            part: list[str] = []
            with (self._folder / _IDS).open(encoding="utf-8", newline="\n") as lines:
                for line in lines:
                    part.append(line[:-1])
                    if len(part) == _AT_ONCE:
                        writer.extend(part)
                        part = []
            writer.extend(part)
        if (twice := writer.finish()) is not None:
            raise InputError(f"two documents have the id '{twice}'. Ids must be unique.")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


# Texts by number on disk, not necessarily distinct: names of concepts, normalized names.


def write_texts(folder: Path, name: str, texts: Iterable[str]) -> int:
    """Write texts; returns how many there are."""
    end = 0
    with (
        (folder / f"{name}.utf8").open("wb") as file,
        ArrayWriter(folder / f"{name}.ends.int64", np.int64) as ends,
    ):
        part: list[int] = []
        for text in texts:
            end += file.write(text.encode())
            part.append(end)
            if len(part) == 1 << 16:
                ends.append(np.array(part, np.int64))
                part = []
        ends.append(np.array(part, np.int64))
        return ends.size


class Texts(Sequence[str]):
    """Texts that `write_texts` wrote, read from disk as they are looked at."""

    def __init__(self, folder: Path, name: str) -> None:
        self._text = map_array(folder / f"{name}.utf8", np.uint8).data
        self._ends = map_array(folder / f"{name}.ends.int64", np.int64)

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> str:  # type: ignore[override]  # slices are of no use
        if not 0 <= number < len(self):
            raise IndexError(number)
        start = self._ends[number - 1] if number else 0
        return str(self._text[start : self._ends[number]], "utf-8")
