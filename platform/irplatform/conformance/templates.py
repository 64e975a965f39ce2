"""The modules and tests of new plugins, a pair for each kind; `$words` are replaced.

Each can be installed as it is, and passes its tests.
"""

RERANKER = '''\
"""$Title, a reranker for irplatform: what it computes, after which paper."""

from irplatform.plugin import (
    Documents,
    Field,
    Options,
    RegisterReranker,
    Reranker,
    Topic,
    hookimpl,
)


class ${Class}Options(Options):
    """The options of --set."""

    title: float = Field(2.0, ge=0, description="weight of a word in the title; 1 in the abstract")


class $Class(Reranker):
    """Ranks documents by how many words of the query they have."""

    Options = ${Class}Options
    options: ${Class}Options

    def score(self, topic: Topic, documents: Documents) -> list[float]:
        """One finite number for each document, higher is better, from topic and document alone."""
        asked = set(topic.query.lower().split())
        return [
            self.options.title * len(asked.intersection(document.title.lower().split()))
            + len(asked.intersection(document.abstract.lower().split()))
            for document in documents
        ]


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """Make it known to `platform run --reranker $name`."""
    register("$name", $Class)
'''

RERANKER_TEST = '''\
"""Tests of $name."""

from irplatform.plugin import Document, Documents, Topic
from irplatform.testing import check_plugin

from $module import $Class, ${Class}Options

DOCUMENTS = Documents.of(
    [
        Document("a", title="Crizotinib in lung cancer"),
        Document("b", title="A case report", abstract="Crizotinib was given."),
    ]
)

test_contract = check_plugin("$name")


def test_words_of_the_title_count_more() -> None:
    assert $Class().score(Topic("t", "crizotinib lung"), DOCUMENTS) == [4.0, 1.0]


def test_the_weight_of_titles_can_be_set() -> None:
    plain = $Class(${Class}Options(title=1.0))
    assert plain.score(Topic("t", "crizotinib lung"), DOCUMENTS) == [2.0, 1.0]
'''

TRAINABLE = '''\
"""$Title, a reranker for irplatform that learns: what it computes, after which paper."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from irplatform.plugin import (
    Document,
    Documents,
    RegisterReranker,
    Resources,
    Topic,
    TrainableReranker,
    TrainingData,
    hookimpl,
)


class $Class(TrainableReranker):
    """Weighs words of the query in titles and in abstracts, as relevant documents have them."""

    def prepare(self, resources: Resources) -> None:
        """Called first, before `fit` or `load`."""
        self._documents = resources.documents

    def fit(self, data: TrainingData) -> None:
        """Learn; the same data, options and seed give the same weights."""
        relevant, others = [np.zeros(2)], [np.zeros(2)]
        for topic in data.training:
            rows = _features(topic.topic, self._documents(topic.candidates))
            for doc_id, row in zip(topic.candidates, rows, strict=True):
                (relevant if topic.judgments.get(doc_id, 0) > 0 else others).append(row)
        self._weights = np.mean(relevant, axis=0) - np.mean(others, axis=0)

    def save(self, folder: Path) -> None:
        """Write all that was learned; no pickles."""
        np.save(folder / "weights.npy", self._weights, allow_pickle=False)

    def load(self, folder: Path) -> None:
        """Read it again."""
        self._weights = np.load(folder / "weights.npy", allow_pickle=False)

    def score(self, topic: Topic, documents: Documents) -> list[float]:
        """One finite number for each document, higher is better, from topic and document alone."""
        return [float(score) for score in _features(topic, documents) @ self._weights]


def _features(topic: Topic, documents: Iterable[Document]) -> npt.NDArray[np.float64]:
    """[documents, 2]: words of the query in title and abstract."""
    asked = set(topic.query.lower().split())
    texts = [(document.title, document.abstract) for document in documents]
    return np.array([[float(len(asked & {*t.lower().split()})) for t in both] for both in texts])


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """Make it known to `platform run --reranker $name`."""
    register("$name", $Class)
'''

TRAINABLE_TEST = '''\
"""Tests of $name."""

from irplatform.plugin import Document, Documents, Resources, Topic, TrainingData
from irplatform.testing import check_plugin

from $module import $Class

pytest_plugins = ["irplatform.testing"]  # resources and training_data

DOCUMENTS = Documents.of([Document("a", title="Lung cancer"), Document("b", title="Zebrafish")])

test_contract = check_plugin("$name")


def test_words_of_the_query_in_a_title_are_good(
    resources: Resources, training_data: TrainingData
) -> None:
    reranker = $Class()
    reranker.prepare(resources)
    reranker.fit(training_data)
    first, second = reranker.score(Topic("t", "lung cancer"), DOCUMENTS)
    assert first > second == 0
'''

RETRIEVER = '''\
"""$Title, a retriever for irplatform: what it finds, after which paper."""

from collections.abc import Sequence

from irplatform.lucene import BM25
from irplatform.plugin import (
    Field,
    Options,
    RegisterRetriever,
    Resources,
    Retriever,
    Topic,
    hookimpl,
)
from irplatform.runs import Run


class ${Class}Options(Options):
    """The options of --set."""

    words: int = Field(8, ge=1, description="words of the query to search with, the longest first")


class $Class(Retriever):
    """BM25 for the longest words of a query."""

    Options = ${Class}Options
    options: ${Class}Options

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        """At most `depth` documents for every topic; an empty ranking where nothing is found."""
        queries = {topic.id: self._query(topic) for topic in topics}
        rankings = resources.index().search(queries, depth, similarity=BM25())
        return Run("$name", rankings)

    def _query(self, topic: Topic) -> str:
        words = sorted(topic.query.split(), key=len, reverse=True)
        return " ".join(words[: self.options.words])


@hookimpl
def register_retrievers(register: RegisterRetriever) -> None:
    """Make it known to `platform run --first-stage $name`."""
    register("$name", $Class)
'''

RETRIEVER_TEST = '''\
"""Tests of $name."""

from irplatform.plugin import Resources, Topic
from irplatform.testing import check_plugin

from $module import $Class, ${Class}Options

pytest_plugins = ["irplatform.testing"]  # resources: an index of 18 documents

test_contract = check_plugin("$name")


def test_the_longest_word_finds_its_documents(resources: Resources) -> None:
    retriever = $Class(${Class}Options(words=1))
    run = retriever.retrieve([Topic("t", "lung crizotinib"), Topic("u", "of")], 10, resources)
    assert set(run.rankings["t"].doc_ids) == {"d1", "d2", "d3"}
    assert run.rankings["u"].doc_ids == ()
'''

FEATURES = '''\
"""$Title, features for irplatform's learning to rank: what they measure, after which paper."""

import numpy as np
import numpy.typing as npt
from irplatform.plugin import Documents, FeatureGroup, RegisterFeatures, Topic, hookimpl


class $Class(FeatureGroup):
    """Words of the query in a title, and the length of the title."""

    def names(self) -> tuple[str, ...]:
        """A name for each column."""
        return ("words-in-title", "title-length")

    def compute(self, topic: Topic, documents: Documents) -> npt.NDArray[np.float32]:
        """Finite numbers [documents, features], from topic and document alone."""
        asked = set(topic.query.lower().split())
        titles = [document.title.lower().split() for document in documents]
        rows = [[len(asked.intersection(title)), len(title)] for title in titles]
        return np.array(rows, dtype=np.float32)


@hookimpl
def register_features(register: RegisterFeatures) -> None:
    """Make them known to `platform run --reranker ltr --set 'ltr.features=["$name"]'`."""
    register("$name", $Class)
'''

FEATURES_TEST = '''\
"""Tests of $name."""

from irplatform.plugin import Document, Documents, Topic
from irplatform.testing import check_plugin

from $module import $Class

DOCUMENTS = Documents.of([Document("a", title="Lung cancer in mice"), Document("b", title="")])

test_contract = check_plugin("$name")


def test_words_and_lengths_are_counted() -> None:
    rows = $Class().compute(Topic("t", "lung cancer"), DOCUMENTS)
    assert rows.tolist() == [[2.0, 4.0], [0.0, 0.0]]
'''

MEASURE = '''\
"""$Title, a measure for irplatform: what it measures, after which paper."""

from collections.abc import Mapping

from irplatform.plugin import RegisterMeasure, hookimpl
from irplatform.runs import Run

_DEPTH = 5


def $function(qrels: Mapping[str, Mapping[str, float]], run: Run) -> dict[str, float]:
    """Share of the first five documents that are relevant; a finite number for every topic."""
    values = {}
    for topic, grades in qrels.items():
        ranking = run.rankings.get(topic)
        first = ranking.doc_ids[:_DEPTH] if ranking is not None else ()
        values[topic] = sum(grades.get(doc_id, 0) > 0 for doc_id in first) / _DEPTH
    return values


@hookimpl
def register_measures(register: RegisterMeasure) -> None:
    """Make it known to `platform run --measure $Class`."""
    register("$Class", $function)
'''

MEASURE_TEST = '''\
"""Tests of $name."""

from irplatform.runs import Ranking, Run
from irplatform.testing import check_plugin

from $module import $function

test_contract = check_plugin("$name")


def test_relevant_documents_among_the_first_five_count() -> None:
    run = Run("mine", {"t": Ranking.of(["a", "b", "c"], [3.0, 2.0, 1.0])})
    qrels = {"t": {"a": 2, "b": 0, "c": 1, "d": 1}, "u": {"a": 1}}
    assert $function(qrels, run) == {"t": 2 / 5, "u": 0}
'''

COLLECTION = '''\
"""$Title, a collection for irplatform: its source and licence."""

from collections.abc import Iterator, Mapping, Sequence

from irplatform.data import Collection, Corpus
from irplatform.plugin import Document, RegisterCollection, Topic, hookimpl


class Articles(Corpus):
    """The documents; read them from files here."""

    name = "$name"
    fields = ("year",)
    fingerprint = "$name-1"  # change it when the documents change

    def __iter__(self) -> Iterator[Document]:
        """Stream the documents from the beginning."""
        yield Document("a1", "Crizotinib in lung cancer", "Of 82 patients, 47 had a response.")
        yield Document("a2", "Crizotinib in zebrafish", "Larvae did not swim.", {"year": "2013"})


def topics() -> Sequence[Topic]:
    """The topics, in order; fields are optional."""
    return [Topic("t1", "crizotinib lung cancer", {"disease": "lung cancer"})]


def judgments() -> Mapping[str, Mapping[str, int]]:
    """Topic to document to grade; 0 is not relevant."""
    return {"t1": {"a1": 2, "a2": 0}}


def $function() -> Collection:
    """The collection."""
    return Collection(
        id="$name",
        title="$Title",
        corpus=Articles(),
        load_topics=topics,
        load_qrels=judgments,
        measures=("nDCG@10", "RR"),
    )


@hookimpl
def register_collections(register: RegisterCollection) -> None:
    """Make it known to `platform run --collection $name`."""
    register("$name", $function, title="$Title")
'''

COLLECTION_TEST = '''\
"""Tests of $name."""

from irplatform.testing import check_plugin

from $module import $function

test_contract = check_plugin("$name")


def test_every_judged_document_is_there() -> None:
    collection = $function()
    ids = {document.id for document in collection.corpus}
    assert collection.load_qrels is not None
    assert all(ids.issuperset(grades) for grades in collection.load_qrels().values())
'''

_DEMO = "platform run --collection demo"
_LTR = f"{_DEMO} --reranker ltr --set 'ltr.features=[\"$name\"]'"
TEMPLATES = {
    "reranker": ("a reranker", f"{_DEMO} --reranker $name", RERANKER, RERANKER_TEST),
    "trainable": ("a reranker that learns", f"{_DEMO} --reranker $name", TRAINABLE, TRAINABLE_TEST),
    "retriever": ("a retriever", f"{_DEMO} --first-stage $name", RETRIEVER, RETRIEVER_TEST),
    "collection": ("a collection", "platform run --collection $name", COLLECTION, COLLECTION_TEST),
    "measure": ("a measure", f"{_DEMO} --measure $Class", MEASURE, MEASURE_TEST),
    "features": ("a group of features", _LTR, FEATURES, FEATURES_TEST),
}
"""Kind → its title, a command that uses it, its module and its test."""
