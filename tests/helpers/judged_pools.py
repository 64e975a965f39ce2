"""A pool in a folder, and a desk over documents in memory."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from irplatform.data import Document, Topic
from irplatform.files.columns import packed
from irplatform.judging.page.desk import Desk
from irplatform.judging.page.words import Words
from irplatform.judging.pool_folder import Lines, Pool, write_pool
from irplatform.judging.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

GRADES = {0: "not relevant", 1: "possibly relevant: it may help", 2: "definitely relevant"}
HOSTILE = "<img src=x onerror=alert(1)>"


def write_small_pool(
    folder: Path, documents: Mapping[str, Sequence[str]], *, pool: str = "p1", seed: int = 1
) -> Pool:
    """Write a pool: topic to its documents in the order of judging."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = {
        topic: Lines(packed(ids), np.zeros(len(ids), dtype=np.int64), np.arange(1, len(ids) + 1))
        for topic, ids in documents.items()
    }
    placed = sum(map(len, documents.values()))
    result = Pool(folder, pool, "depth", {}, seed, [], [placed], lines)
    write_pool(result)
    return result


def plain_words() -> Words:
    """Words by their lower-case letters without a plural's s."""
    return Words(lambda pieces: [[piece.lower().removesuffix("s")] for piece in pieces])


def document(name: str) -> Document:
    """The document with an id; those that begin with "no" are missing."""
    title = f"Cancers of the lung {HOSTILE}"
    return Document(name, title, f"Document {name}.", {"mesh": ("Lung", "Humans")})


@contextmanager
def small_desk(folder: Path, pool: Pool, **options) -> Iterator[Desk]:
    """A desk whose topics ask for lung cancer."""

    def read(ids):
        return {doc_id: document(doc_id) for doc_id in ids if not doc_id.startswith("no")}

    topics = {t: Topic(t, f"lung cancer {t}", {"disease": "lung cancer"}) for t in pool.topics}
    with Store.open(folder, pool.id) as store:
        yield Desk(pool, store, topics, GRADES, read, plain_words(), **options)
