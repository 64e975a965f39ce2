"""Copies the postings of a Lucene index to arrays on disk, which compiled code searches.

The loops over terms and postings run in Java (`loops`) and write to files. NumPy does the rest. A
folder holds:

- `doc-ids`: the documents' ids in descending order. A document's place is its *number*, so that of
  two documents with the same score the one with the smaller number comes first.
- `terms`: the terms of the searched field, in Lucene's order; see `words` for their hashes.
- `starts.int64` [terms + 1]: where the postings of each term begin.
- `documents.int32`, `codes.uint16` (or `.int32`) [postings]: per term, numbers of documents in
  ascending order, and for each the place of frequency and length in `pairs`, all that BM25 needs.
- `pairs.int64` [pairs, 2]: frequencies, and lengths as Lucene's byte has them.
- `peaks.int32` [terms, 2]: the largest frequency of each term, and the smallest length of its
  documents, which bound what it adds to a score.
- `common-*`: where the documents of common terms are; see `irplatform.postings.common`.
- `number-of.int32` [documents]: the number of each of Lucene's documents.
- `latest.uint16` [documents]: one more than the last year of each document, 0 without a year; see
  `dates`.
- `facts.json`: format, counts, and the type of `codes`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irplatform.files.writing import write_json
from irplatform.lucene.dates import LAST_YEAR, YEAR
from irplatform.lucene.java import java_class
from irplatform.lucene.loops import NO_MORE, Loops
from irplatform.lucene.transfer import CONTENTS
from irplatform.lucene.words import write_hashes
from irplatform.postings.common import write_common
from irplatform.system.console import progress
from irplatform.text.arrays import ArrayWriter, map_array, write_array
from irplatform.text.string_table import StringTableWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.text.arrays import Int32, Int64

    Words = npt.NDArray[Any]

POSTINGS_FORMAT = 4
"""Of the folder's files. A higher number makes cached folders anew."""
_AT_ONCE = 4_000_000
"""Postings that are sorted at a time."""
_WORD = np.dtype(">i4")
"""A number as Java writes it."""
_LENGTHS = 256
"""Lengths that a byte distinguishes."""
_LUCENE = "org.apache.lucene"


def write_postings(reader: Any, folder: Path) -> None:
    """Fill a folder with the postings of an index, given Lucene's reader of it."""
    loops = Loops()
    with progress("copying postings", 4, "steps") as advance:
        ids, _, of_id, _ = _field(reader, "id", folder, loops)
        count = len(ids)
        number_of = np.empty(count, dtype=np.int32)
        number_of[of_id] = np.arange(count - 1, -1, -1)  # Lucene's terms ascend
        _write_strings(folder, "doc-ids", ids[::-1])
        write_array(folder / "number-of.int32", number_of)
        write_array(folder / "latest.uint16", _latest_years(reader, folder, loops, number_of))
        advance(1)
        terms, frequencies, documents, counts = _field(reader, CONTENTS, folder, loops)
        advance(1)
        lengths = _lengths(reader, count)
        pairs, place_of = _pairs(documents, counts, lengths)
        dtype = np.dtype(np.uint16 if len(pairs) <= 2**16 else np.int32)
        starts = np.concatenate([[0], np.cumsum(frequencies, dtype=np.int64)])
        with (
            ArrayWriter(folder / "documents.int32", np.int32) as numbers,
            ArrayWriter(folder / f"codes.{dtype.name}", dtype) as codes,
            ArrayWriter(folder / "peaks.int32", np.int32) as peaks,
        ):
            for block in _blocks(starts):
                places = slice(starts[block.start], starts[block.stop])
                term = np.repeat(np.arange(block.start, block.stop), frequencies[block])
                of_document = number_of[documents[places]]
                order = np.argsort(term << 32 | of_document)
                numbers.append(of_document[order])
                keys = _keys(documents[places], counts[places], lengths)
                codes.append(place_of[keys[order]])
                begins = starts[block] - starts[block.start]
                most = np.maximum.reduceat(keys // _LENGTHS, begins)
                shortest = np.minimum.reduceat(keys % _LENGTHS, begins)
                peaks.append(np.stack([most, shortest], axis=1).ravel())
        advance(1)
        write_array(folder / "starts.int64", starts)
        write_array(folder / "pairs.int64", np.ascontiguousarray(pairs).ravel())
        write_common(folder, starts, map_array(folder / "documents.int32", np.int32), count)
        _write_strings(folder, "terms", terms)
        write_hashes(folder, terms)
        facts = {
            "format": POSTINGS_FORMAT,
            "documents": count,
            "non_empty_documents": int(reader.getDocCount(CONTENTS)),
            "total_terms": int(reader.getSumTotalTermFreq(CONTENTS)),
            "codes": dtype.name,
        }
        write_json(folder / "facts.json", facts)
        for dump in folder.glob("dump-*"):
            dump.unlink()
        advance(1)


def _field(
    reader: Any, field: str, folder: Path, loops: Loops
) -> tuple[list[bytes], Int64, Words, Words]:
    """A field's terms, how many documents have each, and Lucene's documents with frequencies.

    The last two are columns of a file in `folder`, to be read in parts.
    """
    terms = java_class(f"{_LUCENE}.index.MultiTerms").getTerms(reader, field)
    if terms is None:
        none = np.empty(0, dtype=_WORD)
        return [], none.astype(np.int64), none, none
    dump = folder / f"dump-{field}"
    loops.write_terms(terms.iterator(), dump)
    names, frequencies = [], []
    content = memoryview(dump.read_bytes())
    place = 0
    while place < len(content):
        size, frequency = struct.unpack_from(">ii", content, place)
        names.append(bytes(content[place + 8 : place + 8 + size]))
        frequencies.append(frequency)
        place += 8 + size
    loops.write_postings(terms.iterator(), dump)
    counts = np.array(frequencies, dtype=np.int64)
    pairs = np.memmap(dump, dtype=_WORD, mode="r").reshape(-1, 2)
    return names, counts, pairs[:, 0], pairs[:, 1]


def _lengths(reader: Any, count: int) -> Int64:
    """Lucene's byte for the length of each document: int64 [Lucene's documents]."""
    lengths = np.zeros(count, dtype=np.int64)
    values = java_class(f"{_LUCENE}.index.MultiDocValues").getNormValues(reader, CONTENTS)
    if values is not None:
        while (document := values.nextDoc()) != NO_MORE:
            lengths[document] = values.longValue() % _LENGTHS
    return lengths


def _latest_years(
    reader: Any, folder: Path, loops: Loops, number_of: Int32
) -> npt.NDArray[np.uint16]:
    """One more than the last year of each document that date limits look at; 0 without one."""
    latest = np.zeros(len(number_of), dtype=np.uint16)
    names, frequencies, documents, _ = _field(reader, YEAR, folder, loops)
    values = [_year(name.removesuffix(b".0")) for name in names]
    np.maximum.at(latest, number_of[documents], np.repeat(np.array(values, np.uint16), frequencies))
    return latest


def _year(term: bytes) -> int:
    is_year = len(term) == 4 and term.isdigit() and int(term) < LAST_YEAR
    return int(term) + 1 if is_year else 0


def _keys(documents: Words, counts: Words, lengths: Int64) -> Int64:
    return counts.astype(np.int64) * _LENGTHS + lengths[documents]


def _pairs(documents: Words, counts: Words, lengths: Int64) -> tuple[Int64, Int32]:
    """The distinct pairs of frequency and length, and the place of each by its key."""
    keys = np.empty(0, dtype=np.int64)
    for start in range(0, len(documents), _AT_ONCE):
        places = slice(start, start + _AT_ONCE)
        keys = np.union1d(keys, _keys(documents[places], counts[places], lengths))
    place_of = np.zeros(int(keys.max(initial=0)) + 1, dtype=np.int32)
    place_of[keys] = np.arange(len(keys))
    return np.stack([keys // _LENGTHS, keys % _LENGTHS], axis=1), place_of


def _blocks(starts: Int64) -> Iterator[slice]:
    """Ranges of terms with about `_AT_ONCE` postings together."""
    first = 0
    while first < len(starts) - 1:
        end = int(np.searchsorted(starts, starts[first] + _AT_ONCE, side="right")) - 1
        end = max(end, first + 1)
        yield slice(first, end)
        first = end


def _write_strings(folder: Path, name: str, strings: Sequence[bytes]) -> None:
    with StringTableWriter(folder, name) as writer:
        writer.extend([string.decode() for string in strings])
    writer.finish()
