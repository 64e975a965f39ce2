"""DRMM: milliseconds to rerank 100 documents of 300 words, against histograms made per document.

Topics and judged documents of TREC Precision Medicine 2017, each document cut or filled to 300
words with those of the next; untrained weights and random vectors, which cost what trained ones
cost. Ours is `drmm` from document ids to a list of scores, the forward index included; the peer
(`_drmm_direct`) is handed the stems of query and documents. Both must give the same scores to 1e-4,
but for cosines on a bin's border, which `histc` rounds its own way: a share of 1 % of the documents
may differ. The figures are the processor time of one thread, which is what it takes on an idle
machine; the detail has the time that passed, too.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from _common import parser, report, require
from _drmm_direct import DirectDrmm
from delta_rerank import RandomVectors, candidates
from irplatform.collections.names import open_path
from irplatform.plugin import Document
from irplatform.text import ForwardIndex, build_forward_index
from irplatform_drmm.options import DrmmOptions
from irplatform_drmm.reranker import Drmm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from irplatform.plugin import Documents, Topic

TOLERANCE = 1e-4
MOST_DIFFERENT = 0.01
STEMMER = "none"  # stems are a table; words are as many numbers
WORDS = 300


@dataclass
class LongDocuments(RandomVectors):
    """Some of a collection's documents, each with the same number of words.

    A document that has fewer goes on with the words of those that follow.

    Attributes:
        ids: of the documents.
        folder: where their forward index is made.
    """

    ids: tuple[str, ...] = ()
    folder: Path = Path()
    _long: ForwardIndex | None = None

    def forward_index(self) -> ForwardIndex:
        """The forward index of the lengthened documents."""
        if self._long is None:
            build_forward_index(self._lengthened(super().forward_index()), self.folder, workers=1)
            self._long = ForwardIndex.open(self.folder)
        return self._long

    def _lengthened(self, index: ForwardIndex) -> Iterator[Document]:
        tokens, offsets = index.tokens(index.rows(self.ids))
        words = [index.vocabulary[token] for token in [*tokens, *tokens[:10_000]]]
        plain = [word if word.isalnum() else "number" for word in words]
        for doc_id, start in zip(self.ids, offsets[:-1].tolist(), strict=True):
            yield Document(doc_id, "", " ".join(plain[start : start + WORDS]))


def build(resources: LongDocuments) -> tuple[Drmm, DirectDrmm]:
    """Both sides, with the same weights."""
    options = DrmmOptions(document_words=WORDS, stemmer=STEMMER)
    reranker = Drmm(options)
    reranker.prepare(resources)
    peer = DirectDrmm(torch.from_numpy(np.array(reranker._vectors)), options.bins, options.hidden)
    peer.load_state_dict(reranker.network.state_dict())
    return reranker, peer.eval()


def scorers(
    reranker: Drmm, peer: DirectDrmm, topic: Topic, documents: Documents
) -> dict[str, Callable[[], Sequence[float]]]:
    """What is timed: for each side, the way from its input to a list of scores."""
    matcher, index = reranker.matcher, reranker.resources.forward_index()
    terms = torch.from_numpy(matcher.terms(topic.query))
    idf = torch.from_numpy(matcher.match(topic.query, documents.ids[:1]).idf)
    matrix = index.matrix(index.rows(documents.ids), reranker.options.document_words)
    document_stems = [torch.from_numpy(row[row >= 0].astype(np.int64)) for row in matrix]

    def direct() -> Sequence[float]:
        with torch.inference_mode():
            scores: list[float] = peer(terms, document_stems, idf).tolist()
        return scores

    return {"ours": lambda: reranker.score(topic, documents), "peer": direct}


def measure(
    reranker: Drmm, peer: DirectDrmm, pools: Sequence[tuple[Topic, Documents]], rounds: int
) -> dict[str, Any]:
    """Milliseconds of each side over all topics, in turns; their scores must agree."""
    wall_times: dict[str, list[float]] = {}
    processor_times: dict[str, list[float]] = {}
    different = scored = 0
    for topic, documents in pools:
        sides = scorers(reranker, peer, topic, documents)
        scores = {name: np.array(score()) for name, score in sides.items()}
        different += int((abs(scores["ours"] - scores["peer"]) > TOLERANCE).sum())
        scored += len(documents)
        for _ in range(rounds):
            for name, score in sides.items():
                started, begun = time.perf_counter(), time.thread_time()
                score()
                processor_times.setdefault(name, []).append((time.thread_time() - begun) * 1000)
                wall_times.setdefault(name, []).append((time.perf_counter() - started) * 1000)
    if different > MOST_DIFFERENT * scored:
        raise SystemExit(f"the sides disagree on {different} of {scored} documents")
    return {
        "processor": {name: round(median(values), 2) for name, values in processor_times.items()},
        "median": {name: round(median(values), 2) for name, values in wall_times.items()},
        "quickest": {name: round(min(values), 2) for name, values in wall_times.items()},
        "documents": scored,
        "rounded_differently": different,
    }


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.set_defaults(rounds=5)
    command_line.add_argument("--topics", type=int, default=10)
    command_line.add_argument("--documents", type=int, default=100, help="documents of a topic")
    arguments = command_line.parse_args()
    torch.set_num_threads(1)

    collection = open_path(require(arguments.data / "trec-pm" / "2017.toml"))
    pools = candidates(collection, arguments.topics, arguments.documents)
    with tempfile.TemporaryDirectory() as scratch:
        ids = sorted({doc_id for _, documents in pools for doc_id in documents.ids})
        resources = LongDocuments(
            collection.corpus, "cpu", seed=1, threads=1, ids=tuple(ids), folder=Path(scratch)
        )
        measured = measure(*build(resources), pools, arguments.rounds)
    report(
        "drmm_rerank",
        measured["processor"]["ours"],
        measured["processor"]["peer"],
        f"ms of one thread's processor time per {arguments.documents} documents of {WORDS} words",
        higher_is_better=False,
        topics=len(pools),
        rounds=arguments.rounds,
        threads=1,
        load=round(os.getloadavg()[0], 1),
        milliseconds=measured,
    )


if __name__ == "__main__":
    main()
