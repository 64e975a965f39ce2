"""Topics and texts of requests have ids of their own, for rerankers that remember by id."""

import pytest

import irplatform as ir
from irplatform.serving.requests import Explain, Rerank, Search
from irplatform.serving.service import Service


class Remembering(ir.Reranker):
    """Counts common words, and remembers words of topics and texts by their ids."""

    def prepare(self, resources):
        self.topics, self.texts = {}, {}

    def score(self, topic, documents):
        words = {*topic.query.split(), *topic.values("gene")}
        words = self.topics.setdefault(topic.id, words)
        texts = [self.texts.setdefault(d.id, {*d.text.split()}) for d in documents]
        return [float(len(words & text)) for text in texts]

    def explain(self, topic, documents):
        return [{"score": score} for score in self.score(topic, documents)]


class Stubborn(Remembering):
    """Remembers all scores of a topic by its id alone."""

    def prepare(self, resources):
        super().prepare(resources)
        self.scores = {}

    def score(self, topic, documents):
        return self.scores.setdefault(topic.id, super().score(topic, documents))


pytestmark = pytest.mark.usefixtures("restored_registry")

TEXTS = ["glioma rats", "asthma mice"]


@pytest.fixture
def reranker():
    return ir.reranker(Remembering)


@pytest.fixture
def service(reranker):
    return Service(reranker, None)


def _scores(answer):
    by_place = {result["index"]: result for result in answer["results"]}
    return [by_place[place]["relevance_score"] for place in sorted(by_place)]


def test_requests_one_after_the_other(service):
    for query, texts, scores in [
        ("glioma", TEXTS, [1, 0]),
        ("asthma", TEXTS, [0, 1]),
        ("asthma", TEXTS[::-1], [1, 0]),
    ]:
        (answer,) = service.answer([Rerank(query=query, documents=texts)])
        assert _scores(answer) == scores


def test_requests_of_a_batch_also_with_the_same_query(service):
    same = {"query": "asthma", "documents": TEXTS}
    requests = [
        Rerank(query="glioma", documents=TEXTS),
        Rerank(**same),
        Rerank(**same, fields={"gene": "rats"}),
        Rerank(query="asthma", documents=TEXTS[::-1]),
    ]
    for _ in range(2):
        answers = service.answer(requests)
        assert [_scores(answer) for answer in answers] == [[1, 0], [0, 1], [1, 1], [1, 0]]


def test_explanations(service):
    for query, texts, scores in [("glioma", TEXTS, [1, 0]), ("asthma", TEXTS[:1], [0])]:
        (answer,) = service.answer([Explain(query=query, documents=texts)])
        assert [result["explanation"]["score"] for result in answer["results"]] == scores


def test_texts_scored_from_python(reranker):
    assert reranker.score("glioma", TEXTS) == [1, 0]
    assert reranker.score("asthma", TEXTS[::-1]) == [1, 0]
    stubborn = ir.reranker(Stubborn)
    assert stubborn.score("glioma", TEXTS) == [1, 0]
    assert stubborn.score("glioma", TEXTS[::-1]) == [0, 1]


@pytest.mark.java
def test_searches_that_are_reranked(tmp_path, monkeypatch):
    from irplatform.queries.ready import retriever

    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path))
    searcher = retriever("bm25", "demo")
    one, other = (Search(query=query, top_n=5) for query in ("melanoma", "lung cancer"))
    (alone,) = Service(ir.reranker(Stubborn, "demo"), searcher, 20).answer([other])
    assert len(alone["results"]) == 5
    service = Service(ir.reranker(Stubborn, "demo"), searcher, 20)
    (first,) = service.answer([one])
    assert service.answer([other]) == [alone]
    assert service.answer([other, one, other]) == [alone, first, alone]
    run = searcher.search("melanoma", depth=3)
    assert [*run.rankings] == ["query"]
