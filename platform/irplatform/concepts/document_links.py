"""Links documents to concepts: batches in workers, rows appended to files.

An interrupted build continues after its last complete batch.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from irplatform.concepts import ConceptOptions
from irplatform.concepts.pipeline import ConceptPipeline
from irplatform.concepts.similar_names import SimilarNames
from irplatform.concepts.table import ConceptTable
from irplatform.errors import InputError
from irplatform.files.cache import at_hand
from irplatform.files.formats import read_own_json
from irplatform.files.journals import is_kept, keep
from irplatform.system.console import notice
from irplatform.text.arrays import Int32, map_array, write_array
from irplatform.text.string_table import StringTableWriter
from irplatform.workers.distribution import batched

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


_STATE = "progress.json"
_LENGTHS, _INDICES, _COUNTS = (f"documents.{n}.int32" for n in ("lengths", "indices", "counts"))
_IDS = "doc-ids.lines"
_FILES = (_LENGTHS, _INDICES, _COUNTS, _IDS)
_AT_ONCE = 1 << 20

Article = tuple[str, str, str]
"""Id, title, abstract."""


@dataclass(frozen=True)
class Linked:
    """The concepts of some articles.

    `lengths` are the distinct concepts of each article, `indices` these, ascending within an
    article, and `counts` the mentions of each. `empty` articles have no text.
    """

    doc_ids: list[str]
    lengths: Int32
    indices: Int32
    counts: Int32
    empty: int


def link(table: str, linker: str, options: str, articles: Sequence[Article]) -> Linked:
    """Find the concepts of some articles, by the places of table and linker in the cache.

    It runs in a worker, perhaps on another machine.
    """
    pipeline = pipeline_of(at_hand(table), at_hand(linker) if linker else None, options)
    lengths, indices, counts = [], [], []
    for mentions in pipeline.mentions((title, abstract) for _, title, abstract in articles):
        concepts, times = np.unique(
            np.array([mention.concept for mention in mentions], np.int32), return_counts=True
        )
        lengths.append(len(concepts))
        indices.append(concepts)
        counts.append(times)
    return Linked(
        doc_ids=[doc_id for doc_id, _, _ in articles],
        lengths=np.array(lengths, np.int32),
        indices=np.concatenate([*indices, np.empty(0, np.int32)]).astype(np.int32),
        counts=np.concatenate([*counts, np.empty(0, np.int32)]).astype(np.int32),
        empty=sum(not (title.strip() or text.strip()) for _, title, text in articles),
    )


@lru_cache(maxsize=2)
def pipeline_of(table: Path, linker: Path | None, options: str) -> ConceptPipeline:
    """The pipeline of folders of concepts and linker, and of options as JSON; made once."""
    concept_options = ConceptOptions.model_validate_json(options)
    concepts = ConceptTable(table)
    similar = SimilarNames(linker, concepts, concept_options) if linker else None
    return ConceptPipeline(concepts, concept_options, similar)


class RowWriter:
    """Writes the rows of documents, over several attempts if need be.

    The files of an earlier attempt in the folder are cut back to its last complete batch. It counts
    `documents`, those without text (`empty`), and `seconds` of work over all attempts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        state: dict[str, Any] = {}
        if is_kept(folder / _STATE):
            state = read_own_json(folder / _STATE)
        sizes: dict[str, int] = state.get("sizes", {})
        self._marks = {name: _marked(folder / name, sizes.get(name, 0)) for name in _FILES}
        if any(
            mark.hexdigest() != state["marks"][name] for name, mark in self._marks.items() if sizes
        ):
            notice("some of the concepts found so far are lost or damaged: starting over.")
            state, sizes = {}, {}
            self._marks = {name: hashlib.sha256() for name in _FILES}
        self.documents: int = state.get("documents", 0)
        self.empty: int = state.get("empty", 0)
        self.seconds: float = state.get("seconds", 0.0)
        self._files: dict[str, IO[bytes]] = {}
        for name in _FILES:
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
        """Append a batch; it is on disk when this returns."""
        columns = {_LENGTHS: linked.lengths, _INDICES: linked.indices, _COUNTS: linked.counts}
        rows = {
            name: np.ascontiguousarray(v, np.dtype("<i4")).tobytes() for name, v in columns.items()
        }
        rows[_IDS] = "".join(f"{doc_id}\n" for doc_id in linked.doc_ids).encode()
        for name, content in rows.items():
            self._files[name].write(content)
            self._marks[name].update(content)
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
            "marks": {name: mark.hexdigest() for name, mark in self._marks.items()},
        }
        keep(self._folder / _STATE, json.dumps(state).encode())

    def finish(self, concepts: int) -> dict[str, int]:
        """Complete the rows, once their files are closed.

        Returns:
            `documents`, `links`, `mentions`, `concepts_found`, `without_text`, `without_concept`.
        """
        folder = self._folder
        lengths = map_array(folder / _LENGTHS, np.int32)
        indptr = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        write_array(folder / "documents.indptr.int64", indptr)
        indices = map_array(folder / _INDICES, np.int32)
        counts = map_array(folder / _COUNTS, np.int32)
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
        for name in (_STATE, _LENGTHS, _IDS):  # the state goes first
            (folder / name).unlink(missing_ok=True)
        return facts

    def _write_doc_ids(self) -> None:
        with (
            StringTableWriter(self._folder, "doc-ids") as writer,
            (self._folder / _IDS).open(encoding="utf-8", newline="\n") as lines,
        ):
            for part in batched((line[:-1] for line in lines), _AT_ONCE):
                writer.extend(part)
        if (twice := writer.finish()) is not None:
            raise InputError(f"two documents have the id '{twice}'. Ids must be unique.")


def _marked(path: Path, size: int) -> Any:
    """A digest of the first bytes of a file, to go on with."""
    mark = hashlib.sha256()
    with path.open("rb") if path.exists() else io.BytesIO() as file:
        while size > 0 and (content := file.read(min(size, _AT_ONCE))):
            mark.update(content)
            size -= len(content)
    return mark
