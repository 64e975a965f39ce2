"""Scores that Lucene gives to chosen documents, and the parts of expanded queries."""

from contextlib import contextmanager

import pytest

from irplatform.knowledge import add
from irplatform.lucene import BM25
from irplatform.plugin import Documents, Topic
from irplatform_ltr.groups.first_stage import QueryParts, Treatment
from irplatform_ltr.groups.words import LuceneFields

pytestmark = pytest.mark.java

IDS = ("t1", "m1", "e1", "m2", "empty")


class WithIndex:
    """The harness's resources, around a Lucene index."""

    threads = 2

    def __init__(self, index):
        self._index = index

    def index(self):
        return self._index

    def documents(self, doc_ids):
        return Documents(doc_ids, self._index.documents)

    @contextmanager
    def progress(self, label, total, unit=""):
        yield lambda steps: None


@pytest.fixture
def resources(article_index):
    return WithIndex(article_index)


def test_chosen_documents_score_as_in_a_search_of_all(article_index):
    words = ["melanoma inhibitors", "dabrafenib"]
    queries = [article_index.words_query(text, "contents") for text in words]
    rankings = article_index.search(dict(enumerate(words)), 10)
    requests = [
        (IDS, [*queries, None]),
        (("m2",), queries),
        ((), queries),
    ]
    first, second, third = article_index.scores(requests, BM25(), threads=2)
    for column, ranking in rankings.items():
        scores = dict(ranking)
        assert first[:, column].tolist() == pytest.approx([scores.get(d, 0.0) for d in IDS])
        assert second[0, column] == pytest.approx(scores.get("m2", 0.0))
    assert not first[:, 2].any()
    assert third.shape == (0, 2)
    best = article_index.best_scores([*queries, None], BM25(), threads=2)
    assert best.tolist() == pytest.approx([*(r.scores[0] for r in rankings.values()), 0.0])


def test_scores_by_field(resources):
    group = LuceneFields()
    group.prepare(resources)
    values = group.compute(Topic("t", "melanoma"), resources.documents(IDS))
    columns = dict(zip(group.names(), values.T, strict=True))
    assert [d for d, v in zip(IDS, columns["bm25_title"], strict=True) if v > 0] == ["m1"]
    assert [d for d, v in zip(IDS, columns["bm25_abstract"], strict=True) if v > 0] == ["m1", "m2"]
    assert columns["bm25_share_title"].max() == pytest.approx(1.0)
    assert not group.compute(Topic("t", "the"), resources.documents(IDS)).any()


def test_headings_are_asked_of_the_index(article_index):
    queries = article_index.heading_queries("mesh", ["Melanoma", "Lung Neoplasms", "Proteins B"])
    (values,) = article_index.scores([(IDS, queries)], BM25(), threads=1)
    columns = [[d for d, v in zip(IDS, c, strict=True) if v > 0] for c in values.T]
    assert columns == [["m1", "m2"], ["e1"], ["m1"]]


KB = """id\tname\tkind\tsynonyms\tparents\txrefs
X:1\tmelanoma\tdisease\tskin cancer\t\t
X:2\tBRAF\tgene\tBRAF1\t\t
"""


class TestQueryParts:
    """Lucene's score for each part of the expanded query."""

    TOPIC = Topic("t", "melanoma BRAF", {"disease": "melanoma", "gene": "BRAF (V600E)"})

    @pytest.fixture
    def group(self, resources, fresh_home, tmp_path):
        (tmp_path / "own.tsv").write_text(KB)
        add("own", [tmp_path / "own.tsv"])
        group = QueryParts()
        group.prepare(resources)
        return group

    def test_parts_are_scored_one_by_one(self, group, resources):
        values = group.compute(self.TOPIC, resources.documents(IDS))
        columns = dict(zip(group.names(), values.T, strict=True))
        having = {
            name: [d for d, v in zip(IDS, columns[name], strict=True) if v > 0]
            for name in ("disease.weight", "disease.title", "gene.weight", "gene.variant")
        }
        assert having == {
            "disease.weight": ["m1", "m2"],
            "disease.title": ["m1"],
            "gene.weight": ["m1", "m2"],
            "gene.variant": ["m1"],
        }
        assert columns["near.both_share"].tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]

    def test_topics_without_such_fields_are_left_out(self, group):
        assert "no field" in group.lacks([Topic("t", "melanoma")])
        assert group.lacks([self.TOPIC]) == ""

    def test_without_knowledge_bases_it_is_left_out(self, resources, fresh_home):
        group = QueryParts()
        group.prepare(resources)
        assert "no knowledge base is installed" in group.lacks([self.TOPIC])


class TestTreatment:
    """Lucene's score for the treatment that a topic asks for."""

    TOPIC = Topic(
        "t", "melanoma", {"disease": "melanoma", "gene": "BRAF", "treatment": "GSK2118436"}
    )

    @pytest.fixture
    def group(self, resources, fresh_home, tmp_path):
        (tmp_path / "own.tsv").write_text(KB + "D:1\tdabrafenib\tdrug\tGSK2118436\t\t\n")
        add("own", [tmp_path / "own.tsv"])
        group = Treatment()
        group.prepare(resources)
        return group

    def test_documents_with_any_of_its_names_have_it(self, group, resources):
        values = group.compute(self.TOPIC, resources.documents(IDS))
        columns = dict(zip(group.names(), values.T, strict=True))
        assert columns["treatment.named"].tolist() == [1.0, 0.0, 0.0, 1.0, 0.0]
        assert columns["treatment.title"].nonzero()[0].tolist() == [IDS.index("m2")]
        assert not group.traits().weighs_first_stage

    def test_topics_that_ask_for_none_are_left_out(self, group):
        assert "no field treatment" in group.lacks([TestQueryParts.TOPIC])
        assert group.lacks([self.TOPIC]) == ""

    def test_topics_may_ask_for_nothing_else(self, group, resources):
        topic = Topic("t", "anything", {"treatment": "GSK2118436"})
        assert group.lacks([topic]) == ""
        values = group.compute(topic, resources.documents(IDS))
        columns = dict(zip(group.names(), values.T, strict=True))
        assert columns["treatment.named"].tolist() == [1.0, 0.0, 0.0, 1.0, 0.0]

    def test_knowledge_bases_are_needed(self, resources, fresh_home):
        group = Treatment()
        group.prepare(resources)
        assert "no knowledge base is installed" in group.lacks([self.TOPIC])
