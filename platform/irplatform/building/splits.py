"""The split into train, dev and test, by a hash of a name and a seed.

What is split is a query of a click log or a citing article with all its sentences. Its split
depends on its name and the seed alone: it stays where it is when more are added, and two machines
agree on it without talking.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.collections.beir import DEFAULT_SPLIT, TRAINING_SPLIT
from irplatform.collections.writing import BeirWriter, corpus_writer, write_measures
from irplatform.errors import InputError
from irplatform.system.console import notice, progress
from irplatform.system.digests import number_of
from irplatform.system.writing import atomic_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from irplatform.data import Collection, Corpus


SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Shares:
    """How much each split gets, in whole percent.

    Raises:
        InputError: they do not add up to 100, or one is negative.
    """

    train: int
    dev: int
    test: int

    def __post_init__(self) -> None:
        shares = (self.train, self.dev, self.test)
        if min(shares) < 0 or sum(shares) != 100:
            raise InputError(
                "the shares of train, dev and test are whole percentages that add up to 100, "
                f"not {'/'.join(map(str, shares))}."
            )

    @classmethod
    def parse(cls, text: str) -> Shares:
        """Shares written as `60/20/20`.

        Raises:
            InputError: they are not three whole numbers that add up to 100.
        """
        parts = text.split("/")
        if len(parts) != 3 or not all(part.strip().isdecimal() for part in parts):
            raise InputError(f"write the shares of train, dev and test as 60/20/20, not '{text}'.")
        return cls(*map(int, parts))


def split_of(name: str, shares: Shares, seed: int) -> str:
    """The split that something of this name falls into: one of `SPLITS`."""
    percentile = number_of(f"{seed}\n{name}") / 2**64 * 100
    if percentile < shares.train:
        return "train"
    return "dev" if percentile < shares.train + shares.dev else "test"


# A collection in two halves of its documents: learn on one, be tested on the other.
#
# Training and evaluated topics usually share relevant documents. A model can then do well by
# remembering which documents are relevant to anything. Where the halves are searched apart, it has
# never seen a judgment of a document that it is tested on, nor the document itself.

LEARN, TEST = "learn", "test"
"""The two folders that are made."""


def build_new_documents(collection: Collection, out: Path, *, seed: int) -> dict[str, int]:
    """Write two collections in BEIR layout, which share no document.

    `learn` has the topics of the collection's training partner as its split `train`, `test` those
    of the collection as its split `test`, each with the judgments of its own documents.

    Args:
        collection: a judged collection with a training partner over the same documents.
        out: the folder to make; nothing is left of it where this fails.
        seed: of the choice of documents.

    Returns:
        Folder name to its number of documents.

    Raises:
        InputError: the folder exists, there is no training partner over the same documents or no
            judgment, or a half has no judged topic. A notice tells how many have none.
    """
    if collection.training is None:
        raise InputError(f"'{collection.id}' names no training collection to learn from.")
    partner = collection.training()
    if not partner.corpus.same_documents(collection.corpus):
        raise InputError(
            f"'{partner.id}' has other documents than '{collection.id}': there is nothing to part."
        )
    with atomic_folder(out) as folder:
        for name, split, source, in_half in (
            (LEARN, TRAINING_SPLIT, partner, lambda i: not _is_tested(i, seed)),
            (TEST, DEFAULT_SPLIT, collection, lambda i: _is_tested(i, seed)),
        ):
            _write_topics(source, folder / name, split, in_half)
        return _write_documents(collection.corpus, folder, seed)


def _is_tested(document_id: str, seed: int) -> bool:
    return bool(hashlib.blake2b(f"{seed}\0{document_id}".encode()).digest()[0] & 1)


def _write_topics(
    source: Collection, folder: Path, split: str, in_half: Callable[[str], bool]
) -> None:
    """Topics that have a judgment of one of the half's own documents, and these judgments."""
    if source.load_qrels is None:
        raise InputError(f"'{source.id}' has no judgments.")
    qrels = source.load_qrels()
    topic_count = left_out = 0
    with BeirWriter(folder) as files:
        for topic in source.load_topics():
            grades = {d: grade for d, grade in qrels.get(topic.id, {}).items() if in_half(d)}
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


def _write_documents(corpus: Corpus, folder: Path, seed: int) -> dict[str, int]:
    counts = {LEARN: 0, TEST: 0}
    with (
        corpus_writer(folder / LEARN) as learn,
        corpus_writer(folder / TEST) as test,
        progress("writing documents", corpus.size_hint()) as advance,
    ):
        for document in corpus:
            name = TEST if _is_tested(document.id, seed) else LEARN
            (test if name == TEST else learn)(document)
            counts[name] += 1
            advance(1)
    return counts
