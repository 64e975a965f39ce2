"""GRAPHENE: milliseconds to rerank 500 documents whose sides are stored.

Random words, a knowledge base of random drugs, untrained weights and random vectors, which cost
what trained ones cost. Ours goes from document ids to a list of scores: stored document sides, the
topic's concepts found in the graph, the reward added, the distance. The peer is the model as the
paper has it, for the same topic and documents: the BiLSTM over every candidate, states of all
concepts of the graph, messages with α. Both must give the same scores, to a millionth of them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from _common import alternate, parser, report
from irplatform.collection_resources import CollectionResources
from irplatform.data import Corpus
from irplatform.knowledge import add
from irplatform.plugin import Document, Documents, Topic
from irplatform.text import WordVectors
from irplatform_graphene.model import (
    document_vectors,
    encodings,
    matched_links,
    messages_of_all,
    sides,
)
from irplatform_graphene.options import GrapheneOptions
from irplatform_graphene.reranker import Graphene

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from irplatform.text import VectorOptions

DIMENSIONS = 300
VOCABULARY = 20_000
CONCEPTS = 10_000
WORDS = 200
TOLERANCE = 1e-6


class RandomArticles(Corpus):
    """Articles of random words, as frequent as Zipf has it."""

    name, fields, fingerprint = "random-articles", (), "1"

    def __init__(self, articles: int) -> None:
        random = np.random.default_rng(1)
        share = 1 / np.arange(10, VOCABULARY + 10)
        drawn = random.choice(VOCABULARY, (articles, WORDS), p=share / share.sum())
        self.documents = [
            Document(f"d{number}", "", " ".join(map(word, row))) for number, row in enumerate(drawn)
        ]

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def count(self) -> int:
        """How many documents there are."""
        return len(self.documents)


def word(number: int) -> str:
    """A made-up word."""
    return f"substance{number:05d}x".translate(str.maketrans("0123456789", "bcdfghjklm"))


@dataclass
class RandomVectors(CollectionResources):
    """A collection's resources, with random word vectors instead of trained ones."""

    def vectors(self, options: VectorOptions | None = None) -> WordVectors:  # noqa: ARG002
        """A vector for every word."""
        drawn = np.random.default_rng(1).normal(0, 0.15, size=(VOCABULARY, DIMENSIONS))
        names = [word(number) for number in range(VOCABULARY)]
        return WordVectors.with_unk(names, drawn.astype(np.float32), seed=1)


def knowledge_base(folder: Path) -> None:
    """Drugs whose names are words of the articles, each a kind of another one."""
    lines = ["id\tname\tkind\tsynonyms\tparents\txrefs"]
    step = VOCABULARY // CONCEPTS
    lines += [
        f"D:{n}\t{word(step * n)}\tdrug\t\t{f'D:{n // 2}' if n else ''}\t" for n in range(CONCEPTS)
    ]
    (folder / "drugs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    add("random-drugs", [folder / "drugs.tsv"])


def directly(reranker: Graphene, topic: Topic, documents: Documents) -> Sequence[float]:
    """Scores with everything computed anew, in the order of the paper."""
    model = reranker.model
    concepts = model.concepts
    if concepts is None:
        raise ValueError("the graph is what is measured")
    rows = model.reader.index.rows(documents.ids)
    with torch.no_grad():
        encoded = encodings(model.network, model.reader, rows)
        messages = messages_of_all(model.network, concepts, model.device)
        links = concepts.links(rows)
        encoded_topic = model.topics.read(topic)
        matched = matched_links(
            links,
            [encoded_topic.matching],
            np.zeros(len(rows), np.int64),
            concepts.graph.concept_count,
        )
        side = sides(model.network, encoded, links, messages)
        vectors = document_vectors(model.network, side, matched, messages, reranker.options.reward)
        query = model.network.query(*model.reader.topics([encoded_topic]))[0]
        scores: list[float] = model.network.score(query, vectors, None).tolist()
    return scores


def main() -> None:
    """Measure, compare the scores, and print the line of JSON."""
    command_line = parser(__doc__ or "")
    command_line.add_argument("--articles", type=int, default=1_000)
    command_line.add_argument("--topics", type=int, default=10, help="topics of a round")
    command_line.add_argument("--documents", type=int, default=500, help="of a topic")
    command_line.add_argument("--threads", type=int, default=2, help="of torch")
    arguments = command_line.parse_args()
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["IRPLATFORM_HOME"] = str(Path(scratch) / "home")
        knowledge_base(Path(scratch))
        resources = RandomVectors(RandomArticles(arguments.articles), "cpu", 1, 1)
        reranker = Graphene(GrapheneOptions())
        reranker.prepare(resources)
        measure(reranker, arguments)


def measure(reranker: Graphene, arguments: argparse.Namespace) -> None:
    """Time both sides in turns, the stored sides once made."""
    topics, count = arguments.topics, arguments.documents
    random = np.random.default_rng(2)
    pools: list[tuple[Topic, Documents]] = []
    for number in range(topics):
        words = [word(int(n)) for n in random.integers(0, 200, 4)]
        fields: dict[str, Any] = {"disease": " ".join(words[:2]), "gene": " ".join(words[2:])}
        ids = [f"d{n}" for n in random.choice(arguments.articles, count, replace=False)]
        topic = Topic(f"t{number}", " ".join(words), fields)
        pools.append((topic, Documents(ids, lambda _: [])))
    for topic, documents in pools:
        scores = np.array(reranker.score(topic, documents))
        peers = np.array(directly(reranker, topic, documents))
        if not np.allclose(scores, peers, rtol=TOLERANCE, atol=0):
            sys.exit(f"the two forms differ by {np.abs(scores - peers).max()}")
    seconds = alternate(
        {
            "ours": lambda: [reranker.score(*pool) for pool in pools],
            "peer": lambda: [directly(reranker, *pool) for pool in pools],
        },
        arguments.rounds,
    )
    milliseconds, peer = (1000 * median(seconds[side]) / topics for side in ("ours", "peer"))
    report(
        "graphene_rerank",
        milliseconds,
        peer,
        f"ms per topic of {count} documents",
        higher_is_better=False,
        threads=arguments.threads,
        concepts=CONCEPTS,
        words=WORDS,
    )


if __name__ == "__main__":
    main()
