"""The documents of an existing Lucene index, in place of a collection's own."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from irplatform.data import Corpus
from irplatform.files.digests import fingerprint
from irplatform.lucene.stored import all_documents, fields_of, index_mark, open_reader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.data import Collection, Document

_FORMAT = 1
"""Raise it when stored records become other documents."""
_LOOKED_AT = 100
"""Documents that tell which fields there are."""


class IndexedCorpus(Corpus):
    """The stored documents of an index.

    Raises:
        InputError: there is no index, Lucene cannot read it, or it does not store its documents.
    """

    def __init__(self, path: Path, in_place_of: Corpus) -> None:
        self.index_path = path
        self.in_place_of = in_place_of
        self.name = path.resolve().name
        reader = open_reader(path)
        self._mark, self._count = index_mark(path), int(reader.numDocs())
        self.fields = fields_of(islice(all_documents(reader), _LOOKED_AT))
        reader.close()

    @property
    def fingerprint(self) -> str:
        """Of the index's segments."""
        return fingerprint({"index": self._mark, "format": _FORMAT})

    def __iter__(self) -> Iterator[Document]:
        """Stream the documents in the order of the index."""
        assert self.index_path is not None
        reader = open_reader(self.index_path)
        try:
            yield from all_documents(reader)
        finally:
            reader.close()

    def count(self) -> int:
        """Return the number of documents."""
        return self._count


def in_index(collection: Collection, path: Path) -> Collection:
    """Return a collection whose documents are those of an existing index.

    Raises:
        InputError: see `IndexedCorpus`.
    """
    return replace(collection, corpus=IndexedCorpus(path.absolute(), collection.corpus))
