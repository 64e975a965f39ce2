"""Builds an index: documents stream from a corpus into Anserini's indexer, in batches.

Each worker thread takes its next batch from the stream while the others index. Words are analyzed
as in all of Anserini and Pyserini: Porter stemming, Lucene's stop words. An index also holds word
positions for phrases and proximity, a fifth of its size. RM3 needs no term vectors.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.documents.duplicates import Repeats
from irplatform.errors import InputError, PlatformError, counted, unstopped
from irplatform.files.cache import Artifact, artifact, is_built, kept_json
from irplatform.files.digests import fingerprint
from irplatform.files.writing import write_json
from irplatform.lucene import java
from irplatform.lucene.java import lucene_version
from irplatform.lucene.transfer import is_changed, searchable, to_record
from irplatform.system.console import progress
from irplatform.text.tokenizer import COMPOSITION
from irplatform.workers.distribution import available_cores, batched_by_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.data import Corpus

_FORMAT = 2
"""Raise it when records or the arguments below change."""
_FOLDED = "folded.json"
"""The file with the number of documents that folding changed beyond NFC; older indexes lack it."""
_BATCH = 1000
_BATCH_CHARACTERS = 16_000_000
"""Characters of a batch, unless one document has more: Java's heap holds a whole batch."""
_LONGEST = 20_000_000
"""Characters of a string that Anserini's JSON reader takes."""
_BUFFER_MB = 256
"""The memory that Lucene fills before it writes; at most a quarter of the Java heap."""


def build_index(corpus: Corpus, *, threads: int | None = None) -> Artifact:
    """Index a corpus on all cores, or find the index that was built before.

    Open it with `LuceneIndex.open(artifact.path)`.

    Raises:
        InputError: the corpus is empty, is not what it claims to be, or repeats an id.
        PlatformError: Lucene refused a document, or could not write the index.
    """
    if corpus.index_path is not None:
        return Artifact(corpus.index_path, corpus.fingerprint, built=False, seconds=0.0)
    depends_on = _depends_on(corpus)
    index = artifact(
        "index",
        corpus.name,
        depends_on,
        lambda folder: _build(corpus, folder, threads or available_cores()),
    )
    # Composing gave another index only if it changed a document.
    changed = (index.path / _FOLDED).exists() and kept_json(index.path / _FOLDED)
    if not changed:
        return index
    return replace(index, fingerprint=composed_mark(index.fingerprint))


def is_indexed(corpus: Corpus) -> bool:
    """Tell if `build_index` would find an index; reads no documents."""
    return corpus.index_path is not None or is_built("index", corpus.name, _depends_on(corpus))


def documents_indexed(corpus: Corpus) -> int | None:
    """The number of documents of an indexed corpus, or None."""
    return _document_count(build_index(corpus).path) if is_indexed(corpus) else None


def _likely_cause(records: Sequence[str], folder: Path) -> str:
    if too_long := [record for record in records if len(record) > _LONGEST]:
        doc_id = orjson.loads(too_long[0])["id"]
        return f"'{doc_id}' is too long: a field has at most {_LONGEST:,} characters."
    return f"Is the disk of {folder} full, or the Java heap ({java.HEAP_VARIABLE}) too small?"


def composed_mark(index: str) -> str:
    """The fingerprint of an index of which composing characters changed documents."""
    return fingerprint({"index": index, "composition": COMPOSITION})


def _depends_on(corpus: Corpus) -> dict[str, Any]:
    fields = {"fields": searchable(corpus.fields)} if corpus.finds_fields else {}
    lucene = lucene_version()
    version = {} if lucene == "9" else {"lucene": lucene}  # Lucene 9 cannot read later indexes
    return {"corpus": corpus.fingerprint, "format": _FORMAT, **fields, **version}


def _build(corpus: Corpus, folder: Path, threads: int) -> None:
    arguments = ["-input", "", "-collection", "JsonCollection", "-index", str(folder)]
    arguments += ["-storeRaw", "-threads", "1", "-storePositions"]
    arguments += ["-fields", "title", "abstract", *searchable(corpus.fields)]
    indexer = java.java_class("io.anserini.index.SimpleIndexer")(arguments)
    fields = java.java_class("org.apache.commons.lang3.reflect.FieldUtils")
    writer = fields.readDeclaredField(indexer, "writer", True)
    _limit_memory(writer)
    from jnius import JavaException

    expected = corpus.count()
    ids = Repeats()
    changed = 0

    def records() -> Iterator[str]:
        nonlocal changed
        for document in corpus:
            ids.add(document)
            changed += is_changed(document)
            yield to_record(document)

    def add(batch: list[str]) -> int:
        taken = int(indexer.addRawDocuments(batch))
        if taken != len(batch):
            first, *_, last = (orjson.loads(record)["id"] for record in (batch[0], *batch))
            raise PlatformError(
                f"Lucene took only {taken} of {len(batch)} documents of '{corpus.name}', from "
                f"'{first}' to '{last}'{_reason(writer)}. {_likely_cause(batch, folder)}"
            )
        return taken

    try:
        with progress(f"indexing {corpus.name}", corpus.size_hint(), "documents") as advance:
            # Records for one call are limited in number and in text.
            fewest = _BATCH_CHARACTERS // _BATCH
            batches = batched_by_size(records(), lambda r: max(len(r), fewest), _BATCH_CHARACTERS)
            java.java_map(add, batches, threads, advance)
    finally:
        with suppress(JavaException):  # a writer that broke down has closed itself
            indexer.close()
    write_json(folder / _FOLDED, changed)
    _verify(corpus, folder, ids, expected, _reason(writer))


def _reason(writer: Any) -> str:
    """The error that Lucene's writer broke down with, after a colon; Anserini does not raise it."""
    error = writer.getTragicException()
    return "" if error is None else f": {unstopped(error.getMessage() or error.toString())}"


def _limit_memory(writer: Any) -> None:
    # Anserini's SimpleIndexer gathers 2 GB before it writes, whatever `-memoryBuffer` says: a
    # million abstracts would fill the heap. Lucene takes another limit while it is writing.
    heap = java.java_class("java.lang.Runtime").getRuntime().maxMemory() / 2**20
    writer.getConfig().setRAMBufferSizeMB(float(min(_BUFFER_MB, heap / 4)))


def _verify(corpus: Corpus, folder: Path, ids: Repeats, expected: int | None, reason: str) -> None:
    if not ids:
        raise InputError(f"the corpus '{corpus.name}' has no documents.")
    if expected is not None and len(ids) != expected:
        raise InputError(
            f"the corpus '{corpus.name}' should have {expected:,} documents but has "
            f"{len(ids):,}. Fetch it again."
        )
    if problems := corpus.problems():
        raise InputError(problems[0])
    if repeated := ids.found(corpus):
        first, all_of_it = next(iter(repeated.items()))
        raise InputError(
            f"the corpus '{corpus.name}' has {counted(len(repeated), 'document id')} more than "
            f"once, such as '{first}' ({len(all_of_it)} times). Give every document its own id."
        )
    indexed = _document_count(folder)
    if indexed != len(ids):
        raise PlatformError(
            f"the index of '{corpus.name}' has {indexed:,} documents, but {len(ids):,} were "
            f"read{reason}. Is the disk of {folder} full?"
        )


def _document_count(folder: Path) -> int:
    if not any(folder.glob("segments_*")):  # Anserini does not say that it could not write them
        return 0
    reader: Any = java.java_class("io.anserini.index.IndexReaderUtils").getReader(str(folder))
    try:
        return int(reader.numDocs())
    finally:
        reader.close()
