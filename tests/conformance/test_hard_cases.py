"""What users have and a clean collection lacks: gaps, other scripts, ids that come again."""

from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from small import PLUGIN, registration

from irplatform.conformance.data import CheckData, InMemory
from irplatform.conformance.systems import results_of_reranker, results_of_retriever
from irplatform.data import Document
from irplatform.errors import InputError
from irplatform.plugin import Options, Reranker, Retriever, Topic
from irplatform.registry.registration import Registration
from irplatform.reranking.systems import ChosenReranker
from irplatform.retrieval.retrievers import ChosenRetriever
from irplatform.runs import Ranking, Run

FIELDS = {"disease": "melanoma", "gene": "BRAF", "year": "2001"}
DOCUMENTS = {
    f"d{n}": Document(f"d{n}", f"BRAF {'in melanoma ' * n}", "Of 9 patients " * (3 + n), FIELDS)
    for n in range(6)
}
IDS = tuple(DOCUMENTS)
TOPICS = [
    (Topic("t0", "melanoma braf", FIELDS), IDS),
    (Topic("t1", "patients with BRAF", FIELDS), IDS[1:]),
    (Topic("t2", "of", FIELDS), IDS[2:]),
]


def _data():
    index = SimpleNamespace(missing=lambda ids: {*ids} - {*IDS})
    resources = InMemory(None, "cpu", 1, 1, texts=DOCUMENTS)
    resources._opened.index_artifact = SimpleNamespace(fingerprint="")
    resources.index = lambda: index
    return CheckData(resources, TOPICS, [], [])


def _found(score):
    """The problems of a reranker with this function, and the remarks on it."""

    class Tried(Reranker):
        def prepare(self, resources):
            self.kept = {}
            self.resources = resources

        def score(self, topic, documents):
            return [float(score(self, topic, document)) for document in documents]

    data = _data()
    choice = ChosenReranker(registration(Tried), Options())
    return [problem for _, problem in results_of_reranker(choice, data) if problem], data.remarks


def _words(topic):
    return topic.query.lower().split()


def _count(words, document):
    return sum(word in document.text.lower() for word in words)


@lru_cache
def _by_hash(topic_id, document_id):
    return len(topic_id) + sum(map(ord, document_id))


SOUND = {
    "counts words": lambda self, topic, d: _count(_words(topic), d),
    "keeps words by query": lambda self, topic, d: _count(
        self.kept.setdefault(topic.query, _words(topic)), d
    ),
    "uses a field if there is one": lambda self, topic, d: str(topic.fields.get("gene")) in d.text,
    "scores by ids": lambda self, topic, d: _by_hash(topic.id, d.id),
    "scores by text and length": lambda self, topic, d: len(d.title) / max(1, len(d.abstract)),
}


@pytest.mark.parametrize("score", SOUND.values(), ids=SOUND)
def test_a_sound_one_passes(score):
    assert _found(score) == ([], [])


BROKEN = {
    "abstract's first word": (
        lambda self, topic, d: len(d.abstract.split()[0]),
        ["IndexError", "a document with nothing but an id, a document with a title alone: "],
    ),
    "title's first letter": (lambda self, topic, d: ord(d.title[0]), ["an abstract alone"]),
    "field of a document": (lambda self, topic, d: int(d.fields["year"]), ["KeyError: 'year'"]),
    "field of a topic": (
        lambda self, topic, d: topic.fields["gene"] in d.text,
        ["KeyError: 'gene'", "a topic without the field 'gene', a topic without fields: a topic"],
    ),
    "long words of the query": (
        lambda self, topic, d: 1 / len([w for w in _words(topic) if len(w) > 1]),
        ["ZeroDivisionError", "a query of one letter"],
    ),
    "letters of the query": (
        lambda self, topic, d: 1 / sum(map(str.isalpha, topic.query)),
        ["a query without a word"],
    ),
    "no number": (
        lambda self, topic, d: np.log(len(d.abstract)),
        ["scores must be finite", "nothing but an id"],
    ),
    "ASCII": (lambda self, topic, d: len(d.text.encode("ascii")), ["in several scripts"]),
    "Latin 1": (lambda self, topic, d: len(topic.query.encode("latin-1")), ["several scripts"]),
    "words by id": (
        lambda self, topic, d: _count(self.kept.setdefault(topic.id, _words(topic)), d),
        ["another query of the same id is answered as the first one: keep what you compute"],
    ),
    "documents by id": (
        lambda self, topic, d: self.kept.setdefault(d.id, len(d.text)),
        ["another text of the same id is answered as the first one"],
    ),
}


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("score", "phrases"), BROKEN.values(), ids=BROKEN)
def test_what_fails_on_the_data_of_users_is_told_with_the_case(score, phrases):
    problems, _ = _found(score)
    assert problems
    for words in phrases:
        assert any(words in problem for problem in problems), problems


def test_one_kept_beside_the_instance_is_found_too():
    memory = {}
    problems, _ = _found(lambda self, t, d: _count(memory.setdefault(t.id, _words(t)), d))
    assert len(problems) == 1


def test_one_that_refuses_with_a_reason_keeps_the_contract():
    def score(self, topic, document):
        if not topic.fields.get("gene"):
            raise InputError("a topic needs a gene.")
        return len(document.text)

    assert _found(score) == ([], [])


def test_one_that_cannot_score_texts_is_remarked_and_not_broken():
    problems, remarks = _found(lambda self, topic, d: IDS.index(d.id))
    assert problems == []
    (remark,) = remarks
    assert remark.startswith("no text outside the collection can be scored")


def _of_retriever(choose):
    class Tried(Retriever):
        def retrieve(self, topics, depth, resources):
            rankings = {t.id: Ranking.of(*zip(*choose(t), strict=True)) for t in topics}
            return Run("tried", rankings)

    registered = Registration("tried", "retriever", Tried, {}, PLUGIN)
    results = results_of_retriever(ChosenRetriever(registered, Options()), _data())
    return [problem for _, problem in results if problem]


def _ranked(words):
    sign = -1 if "asthma" in words else 1
    return [(i, sign * number + _count(words, DOCUMENTS[i])) for number, i in enumerate(IDS)]


def test_a_retriever_is_asked_about_odd_topics_and_ids_that_come_again():
    memory = {}
    assert _of_retriever(lambda t: _ranked(_words(t))) == []
    (field,) = _of_retriever(lambda t: _ranked([t.fields["gene"]]))
    assert "KeyError: 'gene'" in field
    (again,) = _of_retriever(lambda t: _ranked(memory.setdefault(t.id, _words(t))))
    assert again.startswith("another query of the same id is answered as the first one")


def test_a_retriever_that_finds_documents_of_others_is_told():
    (foreign,) = _of_retriever(lambda t: [("d1", 2.0), ("PMC1", 1.0)])
    assert "1 of 2 documents that tried found are not in the collection (first: 'PMC1')" in foreign
