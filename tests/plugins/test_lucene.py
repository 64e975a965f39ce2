"""The built-in retrievers."""

from types import SimpleNamespace

import pytest

from irplatform.data import Corpus
from irplatform.lucene import BM25, QLD, RM3, LuceneIndex, build_index
from irplatform.plugin import Document, Topic
from irplatform.registry.loading import registry
from irplatform_lexical.retrievers import BM25Retriever, QLDRetriever, RM3Retriever

TOPICS = [Topic("1", "melanoma"), Topic("2", "the"), Topic("3", "lung", {"gene": "melanoma"})]


class Articles(Corpus):
    name, fields, fingerprint = "articles", (), "retrievers"

    def __iter__(self):
        yield Document("a", "Melanoma", "melanoma and dabrafenib")
        yield Document("b", "Dabrafenib", "dabrafenib exposure")
        yield Document("c", "Lung cancer", "gefitinib")
        for n in range(60):  # feedback passes over words that a tenth of all documents have
            yield Document(f"other{n}", f"topic{n}", "unrelated")


@pytest.fixture(scope="module")
def resources(cache_of_module):
    index = LuceneIndex.open(build_index(Articles()).path)
    yield SimpleNamespace(index=lambda: index, threads=2)
    index.close()


def test_three_retrievers_are_registered():
    registered = registry().retrievers
    classes = {name: registered[name].system for name in ("bm25", "qld", "rm3")}
    assert classes == {"bm25": BM25Retriever, "qld": QLDRetriever, "rm3": RM3Retriever}


def test_defaults_are_pyserinis():
    assert BM25Retriever().similarity() == BM25(k1=0.9, b=0.4)
    assert QLDRetriever().similarity() == QLD(mu=1000)
    assert RM3Retriever().similarity() == BM25(k1=0.9, b=0.4)
    assert RM3Retriever().feedback() == RM3(terms=10, documents=10, original_weight=0.5)
    assert BM25Retriever().feedback() is None


def test_options_reach_the_search():
    options = RM3Retriever.Options(k1=1.2, b=0.7, fb_terms=3, fb_docs=4, original_query_weight=0.9)
    assert RM3Retriever(options).similarity() == BM25(1.2, 0.7)
    assert RM3Retriever(options).feedback() == RM3(3, 4, 0.9)


@pytest.mark.parametrize("retriever", [BM25Retriever, QLDRetriever, RM3Retriever])
def test_every_option_is_described_and_bounded(retriever):
    fields = retriever.Options.model_fields
    assert all(field.description for field in fields.values())
    for name in fields:
        with pytest.raises(ValueError, match=name):
            retriever.Options(**{name: -1})


@pytest.mark.java
@pytest.mark.parametrize("retriever", [BM25Retriever, QLDRetriever, RM3Retriever])
def test_every_topic_gets_a_ranking_of_its_query(retriever, resources):
    run = retriever().retrieve(TOPICS, 10, resources)
    assert list(run.rankings) == ["1", "2", "3"]
    assert run.rankings["1"].doc_ids[0] == "a"
    assert run.rankings["2"].doc_ids == ()
    assert run.rankings["3"].doc_ids[0] == "c"
    assert len(retriever().retrieve(TOPICS, 1, resources).rankings["1"]) == 1


@pytest.mark.java
def test_rm3_finds_more_than_bm25(resources):
    assert BM25Retriever().retrieve(TOPICS, 10, resources).rankings["1"].doc_ids == ("a",)
    assert "b" in RM3Retriever().retrieve(TOPICS, 10, resources).rankings["1"].doc_ids
