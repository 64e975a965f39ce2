"""Twenty topics with five candidates each, and rerankers of them."""

from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
from small import registration

from irplatform.plugin import LabelledTopic, Options, Reranker, Topic, TrainableReranker
from irplatform.reranking.rerank import rerank as rerank_pipeline
from irplatform.reranking.systems import ChosenReranker
from irplatform.reranking.training_set import Example, TrainingSet
from irplatform.retrieval.candidates import Candidates
from irplatform.retrieval.retrievers import RetrievedRun
from irplatform.runs import Ranking, Run


def _corpus(fingerprint):
    return SimpleNamespace(
        name="corpus",
        fingerprint=fingerprint,
        same_documents=lambda other: other.fingerprint == fingerprint,
    )


CORPUS, OTHER_CORPUS = _corpus("corpus"), _corpus("other")
TOPICS = [Topic(f"t{n}", f"query {n}") for n in range(20)]
IDS = list("edcba")
FIRST = Ranking.of(IDS, np.arange(5.0, 0.0, -1.0))


class Letters(Reranker):
    """Ranks a first."""

    def score(self, topic, documents):
        return [-float(ord(doc_id)) for doc_id in documents.ids]


class Witness(TrainableReranker):
    """Remembers what it scored, and whether it had learned or validated on that before."""

    scored: ClassVar[list[tuple[str, bool]]] = []
    held_out: ClassVar[list[set[str]]] = []

    def fit(self, data):
        Witness.held_out.append({topic.id for topic in data.unseen})
        self.known = {t.topic.id for t in data.training}
        self.validated = {t.topic.id for t in data.validation}

    def save(self, folder):
        (folder / "known").write_text(" ".join(sorted(self.known | self.validated)))

    def load(self, folder):
        self.known = set((folder / "known").read_text().split())

    def score(self, topic, documents):
        Witness.scored.append((topic.id, topic.id in self.known))
        return [float(n) for n in range(len(documents.ids))]


def choose(kind):
    return ChosenReranker(registration(kind, "ranker"), Options())


def make_candidates(depth=5):
    rankings = {t.id: Ranking.of(IDS, np.arange(5.0, 0.0, -1.0)) for t in TOPICS}
    run = Run("bm25", rankings)
    return Candidates.of(TOPICS, [RetrievedRun(run, "mark")], depth)


def rerank(choice, candidates, qrels, training_source, interpolate, resources):
    candidates = replace(candidates, qrels=qrels or {})
    learning = replace(training_source, interpolate=interpolate)
    return rerank_pipeline(choice, candidates, learning, resources)


def training_set_of(*numbers, validation=None):
    """Topics under other ids than in the evaluated collection."""
    moved = [
        Example(LabelledTopic(Topic(f"x{n}", f"query {n}"), tuple(IDS), {"a": 1}), FIRST)
        for n in numbers
    ]
    return TrainingSet("moved", moved, validation)
