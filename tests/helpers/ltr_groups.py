"""`ltr` over made-up topics, and groups of features that show what they have learned from."""

import json

import numpy as np
from feature_resources import feature_resources
from small import labelled, registration, words

from irplatform.plugin import (
    FeatureGroup,
    Field,
    Options,
    Reranker,
    TrainableFeatureGroup,
    TrainableReranker,
    TrainingData,
    Traits,
)
from irplatform.registry.loading import registry
from irplatform_ltr.groups.stacking import Stacked
from irplatform_ltr.groups.words import LexicalMatches
from irplatform_ltr.options import LtrOptions
from irplatform_ltr.reranker import LearningToRank

TOPICS = 40
QUERIES = words(TOPICS)
NOISE = [f"{word}u" for word in words(150)]


class Fixed(FeatureGroup):
    """Says whether a document is one of the first three of its topic, and how often it is asked."""

    calls = 0

    def names(self):
        return ("inside", "noise")

    def compute(self, topic, documents):
        type(self).calls += 1
        inside = [float(int(d.split("d")[1]) < 3 and d.startswith(topic.id)) for d in documents.ids]
        return np.array([inside, [len(d) for d in documents.ids]], dtype=np.float32).T


class NeedsYear(Fixed):
    """Never applies."""

    def lacks(self, topics):
        return "the topics have no year."


class Broken(Fixed):
    """Gives what it should not."""

    def compute(self, topic, documents):
        values = super().compute(topic, documents)
        values[0, 1] = np.nan
        return values


class Judgments(TrainableFeatureGroup):
    """Remembers which topics and documents it learned from: what leaks shows as 1."""

    def names(self):
        return ("topic_known", "document_known", "topics")

    def fit(self, data):
        self.topics = [t.topic.id for t in data.training]
        self.documents = sorted({d for t in data.training for d in t.judgments})

    def compute(self, topic, documents):
        membership = float(topic.id in self.topics)
        return np.array(
            [[membership, float(d in self.documents), len(self.topics)] for d in documents.ids],
            dtype=np.float32,
        ).reshape(-1, 3)

    def save(self, folder):
        (folder / "known.json").write_text(json.dumps([self.topics, self.documents]))

    def load(self, folder):
        self.topics, self.documents = json.loads((folder / "known.json").read_text())


class RememberedJudgments(Judgments):
    """The same, and means to."""

    def traits(self):
        return Traits(remembers_documents=True)


class RateOptions(Options):
    """Options of the learner below."""

    rate: float = Field(1.0, description="what scores are multiplied by")


class Learning(TrainableReranker):
    """A reranker whose scores tell how many topics it has learned from."""

    Options = RateOptions

    def fit(self, data):
        self.known = len(data.training)

    def score(self, topic, documents):
        return [self.options.rate * self.known + int(d.split("d")[1]) for d in documents.ids]

    def save(self, folder):
        (folder / "known.json").write_text(json.dumps(self.known))

    def load(self, folder):
        self.known = json.loads((folder / "known.json").read_text())


class Length(Reranker):
    """Ranks by the length of ids."""

    def score(self, topic, documents):
        return [float(len(d)) for d in documents.ids]


GROUPS = {
    "fixed": Fixed,
    "needs-year": NeedsYear,
    "broken": Broken,
    "judgments": Judgments,
    "remembered": RememberedJudgments,
    "lexical": LexicalMatches,
    "stack": Stacked,
}


RERANKERS = {"learning": Learning, "length": Length}


def resources_in(tmp_path, monkeypatch):
    """Resources over documents of forty topics, three of twelve relevant, with these groups.

    The rerankers are registered, too: a group that reads them asks what they depend on.
    """
    for name, reranker in RERANKERS.items():
        monkeypatch.setitem(registry().rerankers, name, registration(reranker, name))
    random = np.random.default_rng(4)
    texts = {}
    for topic in range(TOPICS):
        for number in range(12):
            terms = [*random.choice(NOISE, 9)]
            if number < 3:
                terms[random.integers(9)] = QUERIES[topic]
            texts[f"t{topic}d{number}"] = " ".join(terms)
    return feature_resources(tmp_path, texts, {"x": np.ones(2)}, groups=GROUPS, rerankers=RERANKERS)


def topics_of(numbers, shared=()):
    """Topics with those numbers, all of which judge the shared documents, too."""
    return [
        labelled(
            f"t{n}",
            [*(f"t{n}d{d}" for d in range(12)), *shared],
            {f"t{n}d{d}": int(d < 3) for d in range(8)} | dict.fromkeys(shared, 0),
            query=QUERIES[n],
        )
        for n in numbers
    ]


def training_data(folder, shared=()):
    """Twenty topics to learn from, five to validate on."""
    folder.mkdir(exist_ok=True)
    return TrainingData(topics_of(range(20), shared), topics_of(range(20, 25)), folder)


def prepared(resources, **options):
    """`ltr` with small trees, ready to learn."""
    tree = {"trees": 20, "leaf_documents": 3}
    reranker = LearningToRank(LtrOptions.model_validate({"tree": tree, **options}))
    reranker.prepare(resources)
    return reranker


def fitted(resources, tmp_path, shared=(), **options):
    """The same, after it learned."""
    reranker = prepared(resources, **options)
    reranker.fit(training_data(tmp_path / "work", shared=shared))
    return reranker
