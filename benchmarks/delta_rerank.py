"""Delta: milliseconds to rerank 500 documents, against the same model written directly in torch.

Topics and judged documents of TREC Precision Medicine 2017; untrained weights and random vectors,
which cost what trained ones cost. Two forms with the same weights are timed in turns: ours
(`Delta.score` from document ids to a list of scores: reading the forward index, lexical features,
network), and the peer (`_delta_direct`), which is handed the rows of all words and the lexical
features. Both must give the same scores to 1e-5.
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
from _delta_direct import DirectDelta
from irplatform.collection_resources import CollectionResources
from irplatform.collections.names import open_path
from irplatform.plugin import Documents, Topic
from irplatform.text import WordVectors, lexical_features
from irplatform.training.weights import WeightFile
from irplatform_delta.options import DeltaOptions
from irplatform_delta.reranker import Delta

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.data import Collection
    from irplatform.plugin import Document
    from irplatform.text import ForwardIndex, VectorOptions

DIMENSIONS = 300
TOLERANCE = 1e-5
LEAST_FREQUENCY = 5
"""Least frequency of words with a vector, as when vectors are trained."""


@dataclass
class RandomVectors(CollectionResources):
    """A collection's resources, with random word vectors instead of trained ones."""

    def vectors(self, options: VectorOptions | None = None) -> WordVectors:  # noqa: ARG002
        """A vector for every word that is frequent enough, as long as trained ones are."""
        index = self.forward_index()
        words = np.flatnonzero(index.collection_frequency("text") >= LEAST_FREQUENCY)
        drawn = np.random.default_rng(1).normal(0, 0.15, size=(len(words), DIMENSIONS))
        return WordVectors.with_unk(
            [index.vocabulary[word] for word in words], drawn.astype(np.float32), seed=1
        )


@dataclass(frozen=True)
class Sides:
    """Both forms, on one device, with the same weights.

    Attributes:
        index: the forward index that both read.
        vectors: the word vectors.
        plugin: the plugin's form.
        peer: the model as one would write it.
        device: where they compute.
    """

    index: ForwardIndex
    vectors: WordVectors
    plugin: Delta
    peer: DirectDelta
    device: str

    def scorers(
        self, topic: Topic, documents: Documents
    ) -> dict[str, Callable[[], Sequence[float]]]:
        """Return for each side the timed way from its input to a list of scores."""
        inputs = direct_input(self.index, self.vectors, self.plugin.options, topic, documents.ids)
        matrix, query, lexical = (tensor.to(self.device) for tensor in inputs)

        def peer() -> Sequence[float]:
            with torch.inference_mode():
                scores: list[float] = self.peer(matrix, query, lexical).tolist()
            return scores

        return {"ours": lambda: self.plugin.score(topic, documents), "peer": peer}


def build(resources: CollectionResources) -> Sides:
    """Make both forms; the weights of the first go to the peer through a checkpoint."""
    index, vectors = resources.forward_index(), resources.vectors()
    options = DeltaOptions()
    reranker = Delta(options)
    reranker.prepare(resources)
    with tempfile.TemporaryDirectory() as scratch:
        reranker.save(Path(scratch))
        reranker.load(Path(scratch))
        (file,) = Path(scratch).iterdir()
        peer = direct_form(WeightFile(file).load(), vectors, options)
    return Sides(index, vectors, reranker, peer.to(resources.device), resources.device)


def direct_form(
    weights: Mapping[str, torch.Tensor], vectors: WordVectors, options: DeltaOptions
) -> DirectDelta:
    """The peer, with the weights of a checkpoint."""
    padding = np.zeros((1, vectors.dimensions), dtype=np.float32)
    peer = DirectDelta(
        torch.from_numpy(np.concatenate([vectors.matrix, padding])),
        unknown=vectors.unk,
        padding=vectors.unk + 1,
        filters=options.filters,
        convolutions=options.convolutions,
        hidden=options.hidden,
        lexical=len(options.lexical),
        slope=options.slope,
    )
    names = {"convolutions.0.weight": "first.weight", "convolutions.0.bias": "bias"}
    for kind in ("weight", "bias"):
        names |= {
            f"convolutions.{layer}.{kind}": f"further.{layer - 1}.{kind}"
            for layer in range(1, options.convolutions)
        }
        names |= {f"feed_forward.0.{kind}": f"hidden.{kind}"}
        names |= {f"feed_forward.2.{kind}": f"output.{kind}"}
    peer.load_state_dict({name: weights[key] for name, key in names.items()}, strict=False)
    return peer.eval()


def direct_input(
    index: ForwardIndex,
    vectors: WordVectors,
    options: DeltaOptions,
    topic: Topic,
    doc_ids: Sequence[str],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What the peer reads: rows of the documents' and the query's words, and lexical features."""
    words = np.append(vectors.align(index.vocabulary), vectors.unk)  # the last one serves -1
    rows, query = index.rows(doc_ids), index.query_ids(topic.query)
    tokens = index.matrix(rows, options.document_words)
    documents = np.where(tokens < 0, vectors.unk + 1, words[tokens])
    lexical = lexical_features(index, query, rows, options.lexical)
    return torch.from_numpy(documents), torch.from_numpy(words[query]), torch.from_numpy(lexical)


def candidates(collection: Collection, topics: int, depth: int) -> list[tuple[Topic, Documents]]:
    """The first topics, each with the first of its judged documents."""
    qrels = collection.load_qrels()
    pools = []
    for topic in collection.load_topics():
        judged = sorted(qrels.get(topic.id, {}))[:depth]
        if len(judged) == depth and len(pools) < topics:
            pools.append((topic, Documents(judged, _not_read)))
    return pools


def _not_read(doc_ids: Sequence[str]) -> Sequence[Document]:
    raise RuntimeError(f"Delta reads the forward index only, not the text of {len(doc_ids)}")


def measure(
    sides: Sides,
    pools: Sequence[tuple[Topic, Documents]],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Any]:
    """Milliseconds of each side over all topics: medians and quickest.

    The sides take turns at each topic; within a turn a side scores the topic several times, so that
    caches and memory are as it leaves them itself, as in a run.

    Raises:
        SystemExit: the sides' scores differ.
    """
    milliseconds: dict[str, list[float]] = {}
    difference = 0.0
    for topic, documents in pools:
        scorers = sides.scorers(topic, documents)
        scores = {}
        for name, score in scorers.items():
            scores[name] = np.array(score())  # warms up, too
            for _ in range(rounds):
                started = clock()
                score()
                milliseconds.setdefault(name, []).append((clock() - started) * 1000)
        difference = max(difference, float(abs(scores["ours"] - scores["peer"]).max()))
    if difference > TOLERANCE:
        raise SystemExit(f"the forms disagree: scores differ by up to {difference:.2g}")
    return {
        "median": {name: round(median(values), 2) for name, values in milliseconds.items()},
        "quickest": {name: round(min(values), 2) for name, values in milliseconds.items()},
        "largest_difference": difference,
    }


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.set_defaults(rounds=5)
    command_line.add_argument("--topics", type=int, default=10)
    command_line.add_argument("--documents", type=int, default=500, help="documents of a topic")
    command_line.add_argument("--threads", type=int, default=2, help="torch's threads on the CPU")
    arguments = command_line.parse_args()
    torch.backends.cudnn.allow_tf32 = False  # or a GPU rounds to three digits

    collection = open_path(require(arguments.data / "trec-pm" / "2017.toml"))
    pools = candidates(collection, arguments.topics, arguments.documents)
    milliseconds = {}
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        resources = RandomVectors(collection.corpus, device, seed=1, threads=arguments.threads)
        sides = build(resources)
        torch.set_num_threads(arguments.threads)
        milliseconds[device] = measure(sides, pools, arguments.rounds)
        if device == "cpu":
            torch.set_num_threads(1)
            on_one_thread = measure(sides, pools, arguments.rounds, time.thread_time)
            milliseconds["cpu, one thread, processor time"] = on_one_thread
    medians = milliseconds["cpu"]["median"]
    report(
        "delta_rerank",
        medians["ours"],
        medians["peer"],
        f"ms per {arguments.documents} documents",
        higher_is_better=False,
        topics=len(pools),
        rounds=arguments.rounds,
        threads=arguments.threads,
        load=round(os.getloadavg()[0], 1),
        milliseconds=milliseconds,
    )


if __name__ == "__main__":
    main()
