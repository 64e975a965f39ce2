"""Writes the concepts of several knowledge bases as arrays: names to look up, ids, relations.

`table` reads them. The same knowledge bases make the same bytes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from irplatform.concepts.ambiguity import (
    EXTRA_NAMES,
    Condition,
    condition,
    is_known_alias,
    is_mostly_something_else,
    shared,
)
from irplatform.concepts.merging import united
from irplatform.concepts.spelling import hash_of
from irplatform.concepts.table import FACTS, KINDS, VERSION, bits_of_marks, write_texts
from irplatform.errors import InputError
from irplatform.files.writing import atomic_write
from irplatform.knowledge.model import NAME_RANK, stored_keys, uninverted
from irplatform.system.console import progress, waiting
from irplatform.text.arrays import write_array
from irplatform.text.string_table import StringTableWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.concepts.merging import United
    from irplatform.knowledge import KnowledgeBase, NameKind

_LONGEST_KEY = 100


class Entry(NamedTuple):
    """A name of a concept, to be found in texts."""

    concept: int
    rank: int
    condition: int
    text: str


def build_table(bases: Sequence[KnowledgeBase], folder: Path) -> None:
    """Write the concepts of knowledge bases; the first one takes precedence where they differ.

    Raises:
        InputError: none of them has names.
    """
    concepts = united(bases)
    entries = _entries(concepts)
    if not entries:
        names = ", ".join(base.name for base in bases)
        raise InputError(
            f"the knowledge bases ({names}) hold no names, only relations. Add one with names, "
            "such as mesh, doid, hgnc or drugs (`platform kb list`)."
        )
    with waiting("writing concepts"):
        _write(concepts, entries, bases, folder)


def _write(
    concepts: Sequence[United],
    entries: dict[str, list[Entry]],
    bases: Sequence[KnowledgeBase],
    folder: Path,
) -> None:
    concept_of_id = _write_ids(concepts, folder)
    ranked_names = [
        (text, NAME_RANK[kind]) for concept in concepts for text, kind in concept.names.items()
    ]
    write_texts(folder, "names", (text for text, _ in ranked_names))
    write_array(folder / "names.rank.uint8", np.array([rank for _, rank in ranked_names], np.uint8))
    counts = [0, *(len(concept.names) for concept in concepts)]
    write_array(folder / "names.first.int64", np.cumsum(counts, dtype=np.int64))
    kinds = [KINDS.index(concept.kind) for concept in concepts]
    write_array(folder / "kinds.uint8", np.array(kinds, np.uint8))
    _write_keys(entries, folder)
    sources, dangling = _write_relations(bases, concept_of_id, len(concepts), folder)
    facts = {
        "version": VERSION,
        "concepts": len(concepts),
        "names": len(ranked_names),
        "keys": len(entries),
        "sources": sources,
        "relations_without_concept": dangling,
    }
    with atomic_write(folder / FACTS) as file:
        json.dump(facts, file, indent=1)


def _entries(concepts: Sequence[United]) -> dict[str, list[Entry]]:
    by_key: dict[str, list[Entry]] = {}
    with progress("gathering names", len(concepts), "concepts") as advance:
        for number, concept in enumerate(concepts):
            for key, entry in _entries_of(number, concept):
                by_key.setdefault(key, []).append(entry)
            advance(1)
    return {key: _settled(key, entries, concepts) for key, entries in by_key.items()}


def _entries_of(number: int, concept: United) -> Iterator[tuple[str, Entry]]:
    for text, kind in _names(concept):
        for place, key in enumerate(stored_keys(text)):
            inverted = ", " in text and place == 0  # as in headings, not in sentences
            spelled = text if place == 0 else uninverted(text)  # "Gene, A" is "A Gene"
            basic = condition(spelled, kind, concept.kind, concept.symbol)
            if basic is None or len(key) > _LONGEST_KEY:
                continue
            full = basic | Condition.WHOLE if inverted else basic
            yield key, Entry(number, _rank(text, kind, concept), int(full), text)


def _names(concept: United) -> Iterator[tuple[str, NameKind]]:
    yield from concept.names.items()
    if concept.kind == "gene":
        for text in EXTRA_NAMES.get(concept.symbol, ()):
            yield text, "synonym"


def _rank(text: str, kind: NameKind, concept: United) -> int:
    """The rank of a name as in `NAME_RANK`, except for genes' other symbols.

    A previous symbol was official, and takes precedence over another gene's alias; an alias that
    is known from articles takes precedence over both.
    """
    if concept.kind == "gene" and kind == "alias":
        is_common = is_known_alias(text, concept.symbol)
        return NAME_RANK["synonym" if is_common else "previous"]
    if concept.kind == "gene" and kind == "previous":
        return NAME_RANK["alias"]
    return NAME_RANK[kind]


def _settled(key: str, entries: list[Entry], concepts: Sequence[United]) -> list[Entry]:
    """The entries of one key; a name of several concepts needs support, or is given to one."""
    if len({entry.concept for entry in entries}) == 1:
        return sorted(entries, key=lambda entry: entry[1:])
    official = [e for e in entries if not e.rank and concepts[e.concept].kind == "gene"]
    dubious = {e.concept for e in official if is_mostly_something_else(e.text)}
    symbols = {e.concept for e in official} - dubious
    exact = {e.concept for e in entries if e.rank <= NAME_RANK["synonym"]}
    diseases_and_drugs = {
        concept for concept in exact if concepts[concept].kind in {"disease", "drug"}
    }
    settled = []
    for entry in entries:
        kind = concepts[entry.concept].kind
        if kind == "other" and any(concept < entry.concept for concept in diseases_and_drugs):
            continue  # one of several side effects that are this disease
        if kind == "gene" and symbols and entry.concept not in symbols:
            continue  # another gene's symbol is no alias, unless it is mostly something else
        if entry.rank and entry.concept not in symbols:
            rivals = (
                e
                for e in entries
                if e.concept not in {entry.concept, *dubious}
                and e.rank <= entry.rank
                and e.text.casefold() == entry.text.casefold()  # PD-1 and PD1 are not alike
            )
            if any(shared(kind, concepts[rival.concept].kind, key) for rival in rivals):
                entry = entry._replace(condition=entry.condition | Condition.SUPPORT)  # noqa: PLW2901
        settled.append(entry)
    return sorted(settled, key=lambda entry: (entry.rank, entry.concept, entry.text))


def _write_ids(concepts: Sequence[United], folder: Path) -> dict[str, int]:
    """Write the ids of concepts; return the concept of every id, cross-references included."""
    with StringTableWriter(folder, "ids") as writer:
        writer.extend([concept.ids[0] for concept in concepts])
    writer.finish()
    concept_of_id = {
        concept_id: number for number, concept in enumerate(concepts) for concept_id in concept.ids
    }
    for number, concept in enumerate(concepts):
        for xref in concept.xrefs:
            concept_of_id.setdefault(xref, number)
    with StringTableWriter(folder, "all-ids") as writer:
        writer.extend(list(concept_of_id))
    writer.finish()
    write_array(folder / "all-ids.concept.int32", np.array([*concept_of_id.values()], np.int32))
    return concept_of_id


def _write_keys(entries: dict[str, list[Entry]], folder: Path) -> None:
    order = sorted((hash_of(key), key) for key in entries)
    hashes = np.array([value for value, _ in order], np.uint64)
    write_array(folder / "keys.hash.uint64", hashes)
    write_texts(folder, "keys", (key for _, key in order))
    lengths = [0, *(len(entries[key]) for _, key in order)]
    write_array(folder / "keys.first.int64", np.cumsum(lengths, dtype=np.int64))
    flat = [entry for _, key in order for entry in entries[key]]
    numbers = np.array([entry[:3] for entry in flat], np.int32)
    write_array(folder / "entries.concept.int32", numbers[:, 0])
    write_array(folder / "entries.rank.uint8", numbers[:, 1].astype(np.uint8))
    write_array(folder / "entries.condition.uint8", numbers[:, 2].astype(np.uint8))
    write_texts(folder, "entries", (entry.text for entry in flat))
    bits = bits_of_marks(len(order))
    marks = np.zeros(1 << bits, np.bool_)
    marks[hashes >> np.uint64(64 - bits)] = True
    write_array(folder / "keys.marks.uint8", np.packbits(marks))


def _write_relations(
    bases: Sequence[KnowledgeBase], concept_of_id: dict[str, int], size: int, folder: Path
) -> tuple[list[list[str]], int]:
    """Write the edges between concepts, each in both rows.

    Returns:
        The sources as [knowledge base, kind of relation, edges], and the number of relations with
        an unknown end.
    """
    codes: dict[tuple[str, str], int] = {}
    edges: list[tuple[int, int, int]] = []
    dangling = 0
    for base in bases:
        for source, target, kind in base.relation_ends():
            one, other = concept_of_id.get(source), concept_of_id.get(target)
            if one is None or other is None:
                dangling += 1
            elif one != other:
                edges.append((one, other, codes.setdefault((base.name, kind), len(codes))))
    unique = np.unique(np.array(edges, np.int64).reshape(-1, 3), axis=0)
    both_ways = np.concatenate(
        [
            np.column_stack([unique, np.ones(len(unique), np.int64)]),
            np.column_stack([unique[:, [1, 0, 2]], np.zeros(len(unique), np.int64)]),
        ]
    )
    both_ways = both_ways[np.lexsort(both_ways.T[::-1])]
    indptr = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(both_ways[:, 0], minlength=size), out=indptr[1:])
    write_array(folder / "concepts.indptr.int64", indptr)
    write_array(folder / "concepts.indices.int32", both_ways[:, 1].astype(np.int32))
    write_array(folder / "concepts.sources.uint16", both_ways[:, 2].astype(np.uint16))
    write_array(folder / "concepts.forward.uint8", both_ways[:, 3].astype(np.uint8))
    counts = np.bincount(unique[:, 2], minlength=len(codes)).tolist()
    return [[kb, kind, n] for (kb, kind), n in zip(codes, counts, strict=True)], dangling
