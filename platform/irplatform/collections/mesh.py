"""MeSH-term queries: an article's headings as a query whose one relevant document is the article.

Known-item search that costs no judgments, for pre-training and as a test of its own (Zhao et al.,
CIKM 2019, section 4). The headings never are part of the text that is searched: queries search
title and abstract, which do not hold them, and a collection that is written to a folder leaves the
field out of its documents.
"""

from __future__ import annotations

import hashlib
import heapq
from functools import partial
from typing import TYPE_CHECKING, Literal

from irplatform.collections.beir_files import (
    BeirWriter,
    corpus_writer,
    qrels_path,
    write_measures,
)
from irplatform.collections.collection import Collection, Corpus, Qrels
from irplatform.console import progress
from irplatform.errors import InputError
from irplatform.storage import artifact, atomic_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.plugin import Document, Topic

FIELD = "mesh"
"""The documents' field with their headings."""
MEASURES = ("RR", "P@1", "AP")
FEWEST_HEADINGS = 3
"""Articles with fewer are not made into queries: one or two headings fit thousands of articles."""
SPLITS: tuple[Split, ...] = ("train", "dev", "test")

Split = Literal["train", "dev", "test"]
_FEWEST = 10
"""Fewer queries cannot be split."""
_FORMAT = 1


def mesh_queries(corpus: Corpus, count: int, seed: int, split: Split = "train") -> Collection:
    """MeSH-term queries of a corpus, over that same corpus: `train` validates on `dev`.

    The queries are drawn once and kept in the cache.

    Args:
        corpus: documents with headings.
        count: how many articles to draw, over all splits.
        seed: of the choice.
        split: which part, of 8:1:1.

    Raises:
        InputError: the documents have no headings.
    """
    folder = _drawn(corpus, count, seed)
    return Collection(
        id=f"{corpus.name}-mesh-{split}",
        title=f"MeSH-term queries of {corpus.name}, split {split}",
        corpus=corpus,
        load_topics=partial(_topics, folder, split),
        load_qrels=partial(_qrels, folder, split),
        measures=MEASURES,
        training=None if split == "train" else partial(mesh_queries, corpus, count, seed),
        validation=partial(mesh_queries, corpus, count, seed, "dev") if split == "train" else None,
    )


def check_headings(corpus: Corpus) -> None:
    """Refuse documents that have no field of MeSH headings, as far as their names of fields tell.

    Raises:
        InputError: they have none.
    """
    if FIELD not in corpus.fields:
        raise InputError(
            f"the documents of '{corpus.name}' have no field '{FIELD}' with MeSH headings "
            f"(fields: {', '.join(corpus.fields) or 'none'})."
        )


def write_queries(corpus: Corpus, folder: Path, count: int, seed: int) -> dict[str, int]:
    """Draw queries and write `queries.jsonl` and `qrels/<split>.tsv`, as BEIR lays them out.

    Returns:
        Split to its number of queries.

    Raises:
        InputError: the documents have no headings.
    """
    drawn = _draw(corpus, count, seed)
    parts = _split([document_id for document_id, _ in drawn], seed)
    with BeirWriter(folder) as files:
        for document_id, headings in drawn:
            files.query(document_id, " ; ".join(headings), {FIELD: headings})
        for split, ids in parts.items():
            for document_id in ids:
                files.judge(split, document_id, {document_id: 1})
    return {split: len(ids) for split, ids in parts.items()}


def build_mesh(corpus: Corpus, out: Path, *, count: int, seed: int) -> Path:
    """Write a collection of MeSH-term queries, with documents of its own, in BEIR layout.

    Args:
        corpus: documents with headings.
        out: the folder to make; nothing is left of it where this fails.
        count: how many articles to make into queries.
        seed: of the choice.

    Raises:
        InputError: the folder exists, or the documents have no headings.
    """
    with atomic_folder(out) as folder:
        write_queries(corpus, folder, count, seed)
        write_measures(folder, MEASURES)
        with corpus_writer(folder, fields=False) as write:
            for document in _counted(corpus):
                write(document)
    return out


def _counted(corpus: Corpus) -> Iterator[Document]:
    with progress("writing documents", corpus.size_hint()) as advance:
        for document in corpus:
            advance(1)
            yield document


def _drawn(corpus: Corpus, count: int, seed: int) -> Path:
    depends_on = {
        "format": _FORMAT,
        "corpus": corpus.fingerprint,
        "count": count,
        "seed": seed,
        "fewest": FEWEST_HEADINGS,
    }

    def build(folder: Path) -> None:
        write_queries(corpus, folder, count, seed)

    return artifact("mesh-queries", corpus.name, depends_on, build).path


def _draw(corpus: Corpus, count: int, seed: int) -> list[tuple[str, list[str]]]:
    """Articles with the smallest hashes, in order of their ids: one pass, bounded memory."""
    check_headings(corpus)
    held: list[tuple[int, str, list[str]]] = []
    with progress("drawing MeSH-term queries", corpus.size_hint()) as advance:
        for document in corpus:
            advance(1)
            headings = _headings(document)
            if len(headings) < FEWEST_HEADINGS:
                continue
            entry = (-_hash(document.id, seed, "draw"), document.id, headings)
            if len(held) < count:
                heapq.heappush(held, entry)
            else:
                heapq.heappushpop(held, entry)
    if len(held) < _FEWEST:
        raise InputError(
            f"only {len(held)} documents of '{corpus.name}' have {FEWEST_HEADINGS} or more MeSH "
            f"headings; at least {_FEWEST} are needed to make queries of them."
        )
    return sorted((document_id, headings) for _, document_id, headings in held)


def _headings(document: Document) -> list[str]:
    value = document.fields.get(FIELD, ())
    return list(dict.fromkeys([value] if isinstance(value, str) else value))


def _split(ids: Sequence[str], seed: int) -> dict[str, list[str]]:
    """8:1:1, by hash; each part in the order of `ids`."""
    shuffled = sorted(ids, key=lambda document_id: _hash(document_id, seed, "split"))
    tenth = len(ids) // 10
    dev, test = set(shuffled[:tenth]), set(shuffled[tenth : 2 * tenth])
    return {
        "train": [i for i in ids if i not in dev and i not in test],
        "dev": [i for i in ids if i in dev],
        "test": [i for i in ids if i in test],
    }


def _hash(document_id: str, seed: int, purpose: str) -> int:
    digest = hashlib.blake2b(f"{purpose}\0{seed}\0{document_id}".encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big")


def _qrels(folder: Path, split: Split) -> Qrels:
    from irplatform.evaluation.qrels import read_qrels

    return read_qrels(qrels_path(folder, split))


def _topics(folder: Path, split: Split) -> Sequence[Topic]:
    return list(_topics_of(folder, set(_qrels(folder, split))))


def _topics_of(folder: Path, wanted: set[str]) -> Iterator[Topic]:
    from irplatform.collections.topics import read_topics

    for topic in read_topics(folder / "queries.jsonl", "beir"):
        if topic.id in wanted:
            yield topic
