"""A reranker that remembers, and topics to learn from."""

from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
from pydantic import Field
from small import SmallResources, labelled, registration

from irplatform.collection_resources import UsageLog
from irplatform.plugin import Options, TrainableReranker
from irplatform.reranking.systems import ChosenReranker
from irplatform.reranking.training_set import Example, TrainingSet
from irplatform.runs import Ranking
from irplatform.system.console import notice
from irplatform.system.progress import Stopwatch
from irplatform.text.vector_source import VectorSource


class KnownOptions(Options):
    bias: float = Field(0.0, description="added to every score")


class Memory(TrainableReranker):
    """Knows the relevant documents of the topics that it learned from, and of no others."""

    Options = KnownOptions
    fitted: ClassVar[list[tuple[list[str], list[str]]]] = []
    interrupt_at = None

    def fit(self, data):
        if len(Memory.fitted) == self.interrupt_at:
            (data.workspace / "half").write_text("half")
            raise KeyboardInterrupt
        self.resumed = (data.workspace / "half").exists()
        ids = [t.topic.id for t in data.training], [t.topic.id for t in data.validation]
        Memory.fitted.append(ids)
        self.known = {d for t in data.training for d, g in t.judgments.items() if g > 0}

    def save(self, folder):
        (folder / "known").write_text(" ".join(sorted(self.known)))

    def load(self, folder):
        self.known = set((folder / "known").read_text().split())

    def score(self, topic, documents):
        return [float(d in self.known) + self.options.bias for d in documents.ids]


class Resources(SmallResources):
    """Resources as fitting sees them."""

    corpus = SimpleNamespace(fingerprint="corpus", name="corpus")
    source = VectorSource()
    resume = True
    stopwatch = Stopwatch()
    notice = staticmethod(notice)

    @contextmanager
    def record(self):
        yield UsageLog()

    def of_member(self, number):
        member = replace(self, seed=self.seed + number)
        member.vectors_used, member.words_used = {}, {}
        return member


def choose(kind, **settings):
    system = registration(kind, "memory")
    return ChosenReranker(system, system.options(settings))


def ranked_examples(numbers, shared=""):
    """The first stage ranks the relevant document, which ends in a, last."""
    examples = []
    for n in numbers:
        ids = [f"t{n}{letter}{shared}" for letter in "zedcba"]
        first = Ranking.of(ids, np.arange(6.0, 0.0, -1.0))
        examples.append(Example(labelled(f"t{n}", ids, {ids[-1]: 1}, f"query {n}"), first))
    return examples


def twenty_topics():
    """A training set of twenty topics."""
    return TrainingSet("train", ranked_examples(range(20)))
