"""Builds an index: documents stream from a corpus into Anserini's indexer, in batches.

Each worker thread takes its next batch from the stream while the others index. Words are analyzed
as in all of Anserini and Pyserini: Porter stemming, Lucene's stop words. An index also holds word
positions for phrases and proximity, a fifth of its size. RM3 needs no term vectors.

An index has titles and abstracts as one field, which topics search, and the year. Other fields,
titles and abstracts by themselves among them, take as long again and most searches never name them.
So they are indexed when a query first does, in indexes beside the first one: one for the abstracts,
one for all else. A reader joins them document by document, as if all had been indexed at once.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.documents.duplicates import Repeats
from irplatform.errors import InputError, PlatformError, counted, unstopped
from irplatform.files.cache import MANIFEST, Artifact, artifact, is_built, kept_json
from irplatform.files.costs import Work
from irplatform.files.digests import fingerprint
from irplatform.files.writing import write_json
from irplatform.lucene import java
from irplatform.lucene.dates import YEAR
from irplatform.lucene.java import lucene_version
from irplatform.lucene.stored import index_mark
from irplatform.lucene.transfer import (
    ABSTRACT,
    TITLE,
    fields_record,
    is_changed,
    searchable,
    to_record,
)
from irplatform.system.console import progress
from irplatform.text.tokenizer import COMPOSITION
from irplatform.workers.distribution import available_cores, batched_by_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from irplatform.data import Corpus

_FORMAT = 3
"""Raise it when records or the arguments below change."""
_FIELDS_FORMAT = 1
FACTS = "facts.json"
"""The file with `fields`, the further fields of the documents, and the numbers of documents with
words in `titles` and `abstracts`, and of those `changed` by folding beyond NFC."""
_WORD = re.compile(r"[^\W_]")
_BATCH = 1000
_BATCH_CHARACTERS = 16_000_000
"""Characters of a batch, unless one document has more: Java's heap holds a whole batch."""
_LONGEST = 20_000_000
"""Characters of a string that Anserini's JSON reader takes."""
_BUFFER_MB = 256
"""The memory that Lucene fills before it writes; at most a quarter of the Java heap."""


class Indexer:
    """Anserini's indexer of JSON records.

    Args:
        folder: of the index.
        name: of the corpus, for messages.
        fields: names of fields besides `contents`.
        arguments: what else Anserini's command takes.
    """

    def __init__(self, folder: Path, name: str, fields: Sequence[str], *arguments: str) -> None:
        command = ["-input", "", "-collection", "JsonCollection", "-index", str(folder)]
        command += ["-threads", "1", "-storePositions", *arguments]
        command += ["-fields", *fields] if fields else []
        self._folder, self._name = folder, name
        self._indexer = java.java_class("io.anserini.index.SimpleIndexer")(command)
        attributes = java.java_class("org.apache.commons.lang3.reflect.FieldUtils")
        self.writer = attributes.readDeclaredField(self._indexer, "writer", True)
        # Anserini's SimpleIndexer gathers 2 GB before it writes, whatever `-memoryBuffer` says: a
        # million abstracts would fill the heap. Lucene takes another limit while it is writing.
        heap = java.java_class("java.lang.Runtime").getRuntime().maxMemory() / 2**20
        self.writer.getConfig().setRAMBufferSizeMB(float(min(_BUFFER_MB, heap / 4)))

    def add(self, batch: list[str]) -> int:
        """Index records; return their number. PlatformError if Lucene refused one."""
        count = int(self._indexer.addRawDocuments(batch))
        if count != len(batch):
            first, *_, last = (orjson.loads(record)["id"] for record in (batch[0], *batch))
            raise PlatformError(
                f"Lucene took only {count} of {len(batch)} documents of '{self._name}', from "
                f"'{first}' to '{last}'{self.reason()}. {self._likely_cause(batch)}"
            )
        return count

    def close(self) -> None:
        """Write what is left."""
        from jnius import JavaException

        with suppress(JavaException):  # a writer that broke down has closed itself
            self._indexer.close()

    def reason(self) -> str:
        """The error that Lucene broke down with, after a colon; Anserini does not raise it."""
        error = self.writer.getTragicException()
        return "" if error is None else f": {unstopped(error.getMessage() or error.toString())}"

    def _likely_cause(self, records: Sequence[str]) -> str:
        if too_long := [record for record in records if len(record) > _LONGEST]:
            doc_id = orjson.loads(too_long[0])["id"]
            return f"'{doc_id}' is too long: a field has at most {_LONGEST:,} characters."
        heap = f"the Java heap ({java.HEAP_VARIABLE})"
        return f"Is the disk of {self._folder} full, or {heap} too small?"


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
        work=Work("index", amount=corpus.size_hint() or 1),
    )
    # Composing gave another index only if it changed a document.
    if not kept_json(index.path / FACTS)["changed"]:
        return index
    return replace(index, fingerprint=composed_mark(index.fingerprint))


def is_indexed(corpus: Corpus) -> bool:
    """Tell if `build_index` would find an index; reads no documents."""
    return corpus.index_path is not None or is_built("index", corpus.name, _depends_on(corpus))


def documents_indexed(corpus: Corpus) -> int | None:
    """The number of documents of an indexed corpus, or None."""
    return _document_count(build_index(corpus).path) if is_indexed(corpus) else None


def composed_mark(index: str) -> str:
    """The fingerprint of an index of which composing characters changed documents."""
    return fingerprint({"index": index, "composition": COMPOSITION})


def _depends_on(corpus: Corpus) -> dict[str, Any]:
    fields = {"fields": searchable(corpus.fields)} if corpus.finds_fields else {}
    lucene = lucene_version()
    version = {} if lucene == "9" else {"lucene": lucene}  # Lucene 9 cannot read later indexes
    return {"corpus": corpus.fingerprint, "format": _FORMAT, **fields, **version}


def _batches(records: Iterable[str]) -> Iterator[list[str]]:
    """Records for one call, limited in number and in text."""
    fewest = _BATCH_CHARACTERS // _BATCH
    return batched_by_size(records, lambda r: max(len(r), fewest), _BATCH_CHARACTERS)


def _build(corpus: Corpus, folder: Path, threads: int) -> None:
    further = searchable(corpus.fields)
    indexer = Indexer(folder, corpus.name, [YEAR] if YEAR in further else [], "-storeRaw")
    expected = corpus.count()
    ids = Repeats()
    counts = dict.fromkeys(("titles", "abstracts", "changed"), 0)

    def records() -> Iterator[str]:
        for document in corpus:
            ids.add(document)
            counts["titles"] += _WORD.search(document.title) is not None
            counts["abstracts"] += _WORD.search(document.abstract) is not None
            counts["changed"] += is_changed(document)
            yield to_record(document)

    try:
        with progress(f"indexing {corpus.name}", corpus.size_hint(), "documents") as advance:
            java.java_map(indexer.add, _batches(records()), threads, advance)
    finally:
        indexer.close()
    write_json(folder / FACTS, {"fields": further, **counts})
    _verify(corpus, folder, ids, expected, indexer.reason())


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
    if repeated := ids.groups(corpus):
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


def fields_beside(path: Path) -> set[str]:
    """The fields that `build_fields` indexes for the index in a folder."""
    if not (path / FACTS).exists():
        return set()
    return {TITLE, ABSTRACT, *kept_json(path / FACTS)["fields"]} - {YEAR}


def build_fields(path: Path, reader: Any, field: str) -> tuple[list[str], Path]:
    """Index a field, and those that are indexed with it, or find them.

    Args:
        path: the folder of the index.
        reader: Lucene's reader of it.
        field: one of `fields_beside`.

    Returns:
        The fields, and a folder of indexes of one segment, named 0, 1, …: one for each segment of
        the index, with its documents in their order.
    """
    names = [ABSTRACT] if field == ABSTRACT else sorted(fields_beside(path) - {ABSTRACT})
    manifest = kept_json(path / MANIFEST)
    depends_on = {
        "index": manifest["fingerprint"],
        "segments": index_mark(path),  # an index that is built again has another order
        "fields": names,
        "format": _FIELDS_FORMAT,
    }
    write = partial(_write_fields, reader, manifest["label"], names)
    return names, artifact("index-fields", manifest["label"], depends_on, write).path


def _write_fields(reader: Any, name: str, fields: Sequence[str], folder: Path) -> None:
    from jnius import detach

    # It merges neighbours only, which keeps the order of the documents.
    neighbours = java.java_class("org.apache.lucene.index.LogDocMergePolicy")()
    codec = "org.apache.lucene.index.CodecReader"
    with (
        progress(f"indexing {' and '.join(fields)}", reader.maxDoc(), "documents") as advance,
        ThreadPoolExecutor(1) as adding,  # while the next documents are read
    ):
        for number, segment in enumerate(_segments(reader)):
            # For a merge, and so for all documents in order, each block is unpacked once.
            stored = java.java_cast(codec, segment).getFieldsReader().getMergeInstance()
            raw = (stored.document(place).get("raw") for place in range(segment.maxDoc()))
            records = (fields_record(record, fields) for record in raw)
            indexer = Indexer(folder / str(number), name, fields)
            indexer.writer.getConfig().setMergePolicy(neighbours)
            added: Future[int] | None = None
            try:
                for batch in _batches(records):
                    if added is not None:
                        advance(added.result())
                    added = adding.submit(indexer.add, batch)
                if added is not None:
                    advance(added.result())
                indexer.writer.forceMerge(1)
            finally:
                indexer.close()
        adding.submit(detach).result()


def joined(reader: Any, folders: Sequence[Path]) -> Any:
    """A reader of an index with the fields that `build_fields` put into some folders."""
    utilities = java.java_class("io.anserini.index.IndexReaderUtils")
    parallel = java.java_class("org.apache.lucene.index.ParallelLeafReader")
    segments = []
    for number, segment in enumerate(_segments(reader)):
        readers = (utilities.getReader(str(folder / str(number))) for folder in folders)
        others = [other for field_reader in readers for other in _segments(field_reader)]
        segments.append(parallel(False, [segment, *others], [segment]))
    composite = java.java_class("org.apache.lucene.index.MultiReader")(segments, False)
    return java.java_cast("org.apache.lucene.index.IndexReader", composite)


def _segments(reader: Any) -> list[Any]:
    context = "org.apache.lucene.index.LeafReaderContext"
    return [java.java_cast(context, leaf).reader() for leaf in reader.leaves().toArray()]
