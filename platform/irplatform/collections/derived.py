"""Collections made of others: MeSH-term queries, several collections as one, halves of documents.

MeSH-term queries are an article's headings, which the article answers: known-item search without
judgments (Zhao et al., CIKM 2019, section 4). Headings are not part of the searched text.

Where joined collections share an id, all topics are called after their collection, as in
"trec-pm-2017:1". A topic of two collections, with the same words and fields, is kept once.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

from irplatform.collections.beir import (
    DEFAULT_SPLIT,
    TRAINING_SPLIT,
    BeirWriter,
    corpus_writer,
    qrels_path,
    write_measures,
)
from irplatform.data import Collection
from irplatform.errors import InputError, counted
from irplatform.files.cache import artifact
from irplatform.files.digests import fingerprint, number_of
from irplatform.files.writing import atomic_folder
from irplatform.system.console import notice, progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Corpus, Document, Qrels, Topic

FIELD = "mesh"
MEASURES = ("RR", "P@1", "AP")
FEWEST_HEADINGS = 3
"""Articles with fewer make no queries: one or two headings fit thousands of articles."""
Split = Literal["train", "dev", "test"]
Query = tuple[str, list[str]]
"""An article's id and its headings."""
_FEWEST = 10
"""Fewer queries cannot be split."""
_FORMAT = 1
LEARN, TEST = "learn", "test"


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
    """Too few documents have headings for queries."""


def check_headings(corpus: Corpus) -> None:
    """Refuse documents without a field for MeSH headings."""
    if FIELD not in corpus.fields:
        raise InputError(
            f"the documents of '{corpus.name}' have no field '{FIELD}' with MeSH headings "
            f"(fields: {', '.join(corpus.fields) or 'none'})."
        )


def build_mesh(corpus: Corpus, out: Path, *, count: int, seed: int) -> tuple[dict[str, int], int]:
    """Write a collection of MeSH-term queries and documents without headings, in BEIR layout.

    Articles with the same headings, in any order, are one query, which all of them answer.

    Returns:
        Split to its number of queries; and the number of queries that several articles answer.

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
    """One query per set of headings, with the articles that have just these."""
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
    """All documents, with a display of the progress."""
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
    """The articles with the smallest hashes, by id: one pass, bounded memory."""
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
    """Split ids 8:1:1 by hash; each part is in the order of `ids`."""
    shuffled = sorted(ids, key=lambda document_id: hash_of(document_id, seed, "split"))
    tenth = len(ids) // 10
    split_of = dict.fromkeys(shuffled[:tenth], "dev")
    split_of |= dict.fromkeys(shuffled[tenth : 2 * tenth], "test")
    return {s: [i for i in ids if split_of.get(i, "train") == s] for s in ("train", "dev", "test")}


def hash_of(document_id: str, seed: int, purpose: str) -> int:
    """The hash of an id for a seed and a purpose, 0 to 2^64 − 1."""
    return number_of(f"{purpose}\0{seed}\0{document_id}")


def _qrels(folder: Path, split: Split) -> Qrels:
    from irplatform.evaluation.qrels import read_qrels

    return read_qrels(qrels_path(folder, split))


def _topics(folder: Path, split: Split) -> Sequence[Topic]:
    from irplatform.collections.topic_formats import read_topics

    judged = _qrels(folder, split)
    return [topic for topic in read_topics(folder / "queries.jsonl", "beir") if topic.id in judged]


def joined(parts: Sequence[Collection]) -> Collection:
    """The topics and judgments of all as one collection, with the id "a+b".

    It has judgments if all parts have some, and likewise validation topics.

    Raises:
        InputError: two have the same id.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    ids = [part.id for part in parts]
    if twice := [name for name, times in Counter(ids).items() if times > 1]:
        raise InputError(f"'{twice[0]}' is named twice; its topics are learned from once.")
    all_topics = _Parts(parts)
    return Collection(
        id="+".join(ids),
        title=" + ".join(part.title for part in parts),
        corpus=first.corpus,
        load_topics=all_topics.topics,
        load_qrels=all_topics.qrels if all(part.load_qrels for part in parts) else None,
        measures=first.measures,
        validation=partial(_validation, parts) if all(part.validation for part in parts) else None,
        ignore_identical_ids=any(part.ignore_identical_ids for part in parts),
        parts=tuple(parts),
    )


class _Parts:
    def __init__(self, parts: Sequence[Collection]) -> None:
        self._parts = parts

    def topics(self) -> list[Topic]:
        """Each distinct topic, under its new id."""
        return self._joined[0]

    def qrels(self) -> Qrels:
        """The judgments of these topics, under the same ids."""
        return self._joined[1]

    @cached_property
    def _joined(self) -> tuple[list[Topic], Qrels]:
        qrels = {part.id: part.qrels for part in self._parts if part.load_qrels}
        pairs = [(part.id, topic) for part in self._parts for topic in part.load_topics()]
        distinct: dict[str, tuple[str, Topic]] = {}
        for part, topic in pairs:
            content = fingerprint({"topic": topic.describe()[1:]})
            first, same = distinct.setdefault(content, (part, topic))
            if same.id not in qrels.get(first, {}):
                distinct[content] = (part, topic)
        if repeated := len(pairs) - len(distinct):
            notice(
                f"{'+'.join(part.id for part in self._parts)}: {repeated:,} of {len(pairs):,} "
                "topics repeat another's words and fields; they are learned from once, with the "
                "judgments of the first that has some."
            )
        clash = len({topic.id for _, topic in distinct.values()}) < len(distinct)
        topics: list[Topic] = []
        judged: dict[str, Mapping[str, float]] = {}
        for part, topic in distinct.values():
            name = f"{part}:{topic.id}" if clash else topic.id
            topics.append(replace(topic, id=name))
            if topic.id in qrels.get(part, {}):
                judged[name] = qrels[part][topic.id]
        return topics, judged


def _validation(parts: Sequence[Collection]) -> Collection:
    """The validation topics of all, once if parts share them."""
    validations = [part.validation() for part in parts if part.validation]
    return joined(list({collection.id: collection for collection in validations}.values()))


def build_new_documents(collection: Collection, out: Path, *, seed: int) -> dict[str, int]:
    """Write two collections in BEIR layout, which share no document; return their sizes.

    `learn` has the topics of the training partner as its split `train`, `test` those of the
    collection as its split `test`, each with the judgments of its documents.

    Raises:
        InputError: the folder exists, there is no training partner over the same documents or no
            judgment, or a half has no judged topic.
    """
    if collection.training is None:
        raise InputError(f"'{collection.id}' names no training collection to learn from.")
    partner = collection.training()
    if not partner.corpus.same_documents(collection.corpus):
        raise InputError(
            f"'{partner.id}' has other documents than '{collection.id}': halves need the same ones."
        )

    def half(document_id: str) -> str:
        digest = hashlib.blake2b(f"{seed}\0{document_id}".encode()).digest()
        return TEST if digest[0] & 1 else LEARN

    with atomic_folder(out) as folder:
        _write_topics(partner, folder / LEARN, TRAINING_SPLIT, half)
        _write_topics(collection, folder / TEST, DEFAULT_SPLIT, half)
        counts = {LEARN: 0, TEST: 0}
        with corpus_writer(folder / LEARN) as learn, corpus_writer(folder / TEST) as test:
            for document in counted_documents(collection.corpus, "writing documents"):
                name = half(document.id)
                (test if name == TEST else learn)(document)
                counts[name] += 1
        return counts


def _write_topics(source: Collection, folder: Path, split: str, half: Callable[[str], str]) -> None:
    if source.load_qrels is None:
        raise InputError(f"'{source.id}' has no judgments.")
    qrels = source.qrels
    topic_count = left_out = 0
    with BeirWriter(folder) as files:
        for topic in source.load_topics():
            grades = {
                d: grade for d, grade in qrels.get(topic.id, {}).items() if half(d) == folder.name
            }
            if not grades:
                left_out += topic.id in qrels
                continue
            fields = {k: v for k, v in topic.fields.items() if k != "text"}  # the query's own name
            files.query(topic.id, topic.query, fields)
            files.judge(split, topic.id, grades)
            topic_count += 1
    if not topic_count:
        raise InputError(f"no topic of '{source.id}' has a judged document in its half.")
    if left_out:
        notice(
            f"{folder.name}: {left_out:,} of {topic_count + left_out:,} topics of '{source.id}' "
            "have no judged document in this half, and are left out"
        )
    write_measures(folder, source.measures)
