"""WMD: milliseconds for the distances of a query to 100 documents of 150 words, against gensim.

Topics of TREC Precision Medicine 2017, each with judged documents cut to 150 words; random vectors
of 300 dimensions, which cost what trained ones cost. Ours is `WMD.score` from document ids to
scores, exact and relaxed; the peer is gensim's `KeyedVectors.wmdistance` document by document, on
words that were split before. The exact distances must be gensim's to 1e-6 and the relaxed ones a
lower bound.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from gensim.models import KeyedVectors

from _common import parser, report, require
from irplatform.collections.names import open_path
from irplatform.plugin import Document, Documents, Topic
from irplatform.text import ForwardIndex, WordVectors, build_forward_index, tokenize
from irplatform_lexical.wmd import WMD, WMDOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from irplatform.data import Collection
    from irplatform.text import VectorOptions

DIMENSIONS = 300
TOLERANCE = 1e-6


@dataclass(frozen=True)
class WordResources:
    """The resources that WMD takes."""

    index: ForwardIndex
    words: WordVectors
    device: str = "cpu"

    def forward_index(self) -> ForwardIndex:
        """The documents' words."""
        return self.index

    def vectors(self, options: VectorOptions) -> WordVectors:  # noqa: ARG002
        """The word vectors."""
        return self.words


@dataclass(frozen=True)
class Pool:
    """A topic and its documents, with the words of both for the peer."""

    topic: Topic
    documents: Documents
    query: list[str]
    texts: list[list[str]]


def read_pools(
    collection: Collection, folder: Path, topics: int, documents: int, length: int
) -> tuple[WordResources, list[Pool]]:
    """The first topics with enough judged documents that are long enough, and a forward index."""
    qrels = collection.load_qrels()
    judged_ids = {doc_id for judged in qrels.values() for doc_id in judged}
    cut = {}
    for document in collection.corpus:
        if document.id in judged_ids:
            words = [word for word in tokenize(document.text) if word.isalnum()]  # no <int>
            if len(words) >= length:
                cut[document.id] = words[:length]
    candidates: list[tuple[Topic, list[str]]] = []
    for topic in collection.load_topics():
        doc_ids = [doc_id for doc_id in sorted(qrels.get(topic.id, ())) if doc_id in cut]
        if len(doc_ids) >= documents and len(candidates) < topics:
            candidates.append((topic, doc_ids[:documents]))
    candidate_ids = sorted({doc_id for _, doc_ids in candidates for doc_id in doc_ids})
    build_forward_index(
        (Document(i, "", " ".join(cut[i])) for i in candidate_ids), folder, workers=1
    )
    index = ForwardIndex.open(folder)
    drawn = np.random.default_rng(1).normal(0, 0.15, size=(len(index.vocabulary), DIMENSIONS))
    vectors = WordVectors.with_unk(list(index.vocabulary), drawn.astype(np.float32), seed=1)
    pools = [
        Pool(topic, Documents(doc_ids, list), tokenize(topic.query), [cut[i] for i in doc_ids])
        for topic, doc_ids in candidates
    ]
    return WordResources(index, vectors), pools


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.set_defaults(rounds=5)
    command_line.add_argument("--topics", type=int, default=5)
    command_line.add_argument("--documents", type=int, default=100, help="documents of a topic")
    command_line.add_argument("--length", type=int, default=150, help="words of a document")
    arguments = command_line.parse_args()
    collection = open_path(require(arguments.data / "trec-pm" / "2017.toml"))
    with tempfile.TemporaryDirectory() as folder:
        resources, pools = read_pools(
            collection, Path(folder), arguments.topics, arguments.documents, arguments.length
        )
        measure(resources, pools, arguments.rounds)


def measure(resources: WordResources, pools: Sequence[Pool], rounds: int) -> None:
    """Time the sides in turns at each topic, check that they agree, and report.

    Within a turn a side scores the topic several times, so that caches and memory are as it leaves
    them itself, as in a run.
    """
    forms = {}
    for form in ("exact", "relaxed"):
        forms[form] = WMD(WMDOptions(form=form))
        forms[form].prepare(resources)  # type: ignore[arg-type]
    gensim = KeyedVectors(DIMENSIONS)
    gensim.add_vectors(list(resources.words.words), resources.words.matrix[:-1])
    sides: dict[str, Callable[[Pool], Sequence[float]]] = {
        "exact": lambda pool: forms["exact"].score(pool.topic, pool.documents),
        "relaxed": lambda pool: forms["relaxed"].score(pool.topic, pool.documents),
        "gensim": lambda pool: [
            -gensim.wmdistance(pool.query, text, norm=False) for text in pool.texts
        ],
    }
    milliseconds: dict[str, list[float]] = {name: [] for name in sides}
    difference, shares = 0.0, []
    for pool in pools:
        scores = {}
        for name, score in sides.items():
            scores[name] = np.array(score(pool))  # warms up, too
            for _ in range(rounds):
                started = time.perf_counter()
                score(pool)
                milliseconds[name].append((time.perf_counter() - started) * 1000)
        difference = max(difference, float(abs(scores["exact"] - scores["gensim"]).max()))
        if difference > TOLERANCE or (scores["relaxed"] < scores["gensim"] - TOLERANCE).any():
            raise SystemExit(f"the sides disagree: distances differ by up to {difference:.2g}")
        shares.append(float((scores["relaxed"] / scores["exact"]).mean()))
    medians = {name: median(values) for name, values in milliseconds.items()}
    report(
        "wmd_rerank",
        medians["exact"],
        medians["gensim"],
        f"ms per {len(pools[0].documents)} documents",
        higher_is_better=False,
        relaxed_ratio=round(medians["gensim"] / medians["relaxed"], 2),
        median={name: round(value, 3) for name, value in medians.items()},
        quickest={name: round(min(values), 3) for name, values in milliseconds.items()},
        largest_difference=difference,
        relaxed_share_of_exact=round(float(np.mean(shares)), 4),
        topics=len(pools),
        query_words=[len(pool.query) for pool in pools],
        rounds=rounds,
        load=round(os.getloadavg()[0], 1),
    )


if __name__ == "__main__":
    main()
