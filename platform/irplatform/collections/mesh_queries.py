"""MeSH-term queries: an article's headings as a query that the article answers.

Known-item search that costs no judgments, for pre-training and as a test of its own (Zhao et al.,
CIKM 2019, section 4). The headings never are part of the text that is searched: queries search
title and abstract, which do not hold them, and a collection that is written to a folder leaves the
field out of its documents.
"""

from __future__ import annotations

import heapq
from functools import partial
from typing import TYPE_CHECKING, Literal

from irplatform.collections.writing import BeirWriter, corpus_writer, qrels_path, write_measures
from irplatform.data import Collection, Corpus, Qrels
from irplatform.errors import InputError, counted
from irplatform.system.cache import artifact
from irplatform.system.console import progress
from irplatform.system.digests import number_of
from irplatform.system.writing import atomic_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.data import Document, Topic

FIELD = "mesh"
"""The documents' field with their headings."""
MEASURES = ("RR", "P@1", "AP")
FEWEST_HEADINGS = 3
"""Articles with fewer are not made into queries: one or two headings fit thousands of articles."""

Split = Literal["train", "dev", "test"]
Query = tuple[str, list[str]]
"""An article's id and its headings."""
_FEWEST = 10
"""Fewer queries cannot be split."""
_FORMAT = 1


def mesh_queries(corpus: Corpus, count: int, seed: int, split: Split = "train") -> Collection:
    """MeSH-term queries of a corpus, over that same corpus: `train` validates on `dev`.

    The queries are drawn once and kept in the cache.
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


class TooFewHeadingsError(InputError):
    """Too few documents have headings to make queries of them."""


def check_headings(corpus: Corpus) -> None:
    """Refuse documents whose names of fields have no MeSH headings among them."""
    if FIELD not in corpus.fields:
        raise InputError(
            f"the documents of '{corpus.name}' have no field '{FIELD}' with MeSH headings "
            f"(fields: {', '.join(corpus.fields) or 'none'})."
        )


def build_mesh(corpus: Corpus, out: Path, *, count: int, seed: int) -> tuple[dict[str, int], int]:
    """Write a collection of MeSH-term queries, with documents of its own, in BEIR layout.

    Articles with the same headings, in whatever order, are one query, which all of them answer.

    Returns:
        Split to its number of queries; and how many of them several articles answer, which have
        the same headings.

    Raises:
        InputError: the folder exists, or the documents have no headings.
    """
    with atomic_folder(out) as folder:
        answers = _answers(corpus, _draw(corpus, count, seed))
        if len(answers) < _FEWEST:
            raise InputError(
                f"the articles of '{corpus.name}' have only {len(answers)} different sets of "
                f"headings; at least {_FEWEST} are needed to make queries of them."
            )
        queries = _write_queries(answers, folder, seed)
        write_measures(folder, MEASURES)
        with corpus_writer(folder, fields=False) as write:
            for document in counted_documents(corpus, "writing documents"):
                write(document)
    return queries, sum(len(articles) > 1 for _, articles in answers)


def _answers(corpus: Corpus, drawn: Sequence[Query]) -> list[tuple[Query, list[str]]]:
    """Queries, one for all with the same headings, and the articles with just these."""
    queries: dict[frozenset[str], Query] = {}
    for query in drawn:
        queries.setdefault(frozenset(query[1]), query)
    articles: dict[str, list[str]] = {document_id: [] for document_id, _ in queries.values()}
    for document in counted_documents(corpus, "looking for articles with the same headings"):
        if (same_headings := queries.get(frozenset(_headings(document)))) is not None:
            articles[same_headings[0]].append(document.id)
    return [(query, articles[query[0]]) for query in queries.values()]


def _write_queries(
    answers: Sequence[tuple[Query, Sequence[str]]], folder: Path, seed: int
) -> dict[str, int]:
    """Write `queries.jsonl` and `qrels/<split>.tsv`, as BEIR lays them out."""
    relevant = {query_id: articles for (query_id, _), articles in answers}
    parts = split_ids(list(relevant), seed)
    with BeirWriter(folder) as files:
        for (query_id, headings), _ in answers:
            files.query(query_id, " ; ".join(headings), {FIELD: headings})
        for split, ids in parts.items():
            for query_id in ids:
                files.judge(split, query_id, dict.fromkeys(relevant[query_id], 1))
    return {split: len(ids) for split, ids in parts.items()}


def counted_documents(corpus: Corpus, doing: str) -> Iterator[Document]:
    """All documents, with a display of how far this is."""
    with progress(doing, corpus.size_hint(), "documents") as advance:
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
        drawn = _draw(corpus, count, seed)
        _write_queries([(query, [query[0]]) for query in drawn], folder, seed)

    return artifact("mesh-queries", corpus.name, depends_on, build).path


def _draw(corpus: Corpus, count: int, seed: int) -> list[Query]:
    """Articles with the smallest hashes, in order of their ids: one pass, bounded memory."""
    check_headings(corpus)
    articles = (
        (hash_of(document.id, seed, "draw"), document.id, headings)
        for document in counted_documents(corpus, "drawing MeSH-term queries")
        if len(headings := _headings(document)) >= FEWEST_HEADINGS
    )
    drawn = heapq.nsmallest(count, articles)
    if len(drawn) < _FEWEST:
        raise TooFewHeadingsError(
            f"'{corpus.name}' has only {counted(len(drawn), 'document')} with {FEWEST_HEADINGS} or "
            f"more MeSH headings; at least {_FEWEST} are needed to make queries of them."
        )
    return sorted((document_id, headings) for _, document_id, headings in drawn)


def _headings(document: Document) -> list[str]:
    return list(dict.fromkeys(document.values(FIELD)))


def split_ids(ids: Sequence[str], seed: int) -> dict[str, list[str]]:
    """8:1:1, by hash; each part in the order of `ids`."""
    shuffled = sorted(ids, key=lambda document_id: hash_of(document_id, seed, "split"))
    tenth = len(ids) // 10
    dev, test = set(shuffled[:tenth]), set(shuffled[tenth : 2 * tenth])
    return {
        "train": [i for i in ids if i not in dev and i not in test],
        "dev": [i for i in ids if i in dev],
        "test": [i for i in ids if i in test],
    }


def hash_of(document_id: str, seed: int, purpose: str) -> int:
    """A number that a choice for this purpose is made by, 0 to 2^64 − 1."""
    return number_of(f"{purpose}\0{seed}\0{document_id}")


def _qrels(folder: Path, split: Split) -> Qrels:
    from irplatform.evaluation.qrels import read_qrels

    return read_qrels(qrels_path(folder, split))


def _topics(folder: Path, split: Split) -> Sequence[Topic]:
    from irplatform.collections.topics import read_topics

    judged = _qrels(folder, split)
    return [topic for topic in read_topics(folder / "queries.jsonl", "beir") if topic.id in judged]
