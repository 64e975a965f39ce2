"""The first stage on the closed pool of TREC Precision Medicine 2017: published figures."""

import gzip
import xml.etree.ElementTree as ET

import orjson
import pytest

from irplatform.data import Corpus
from irplatform.lucene import RM3, LuceneIndex, build_index
from irplatform.plugin import Document
from irplatform.runs import Run

pytestmark = [pytest.mark.java, pytest.mark.real, pytest.mark.slow]


class Pool(Corpus):
    name = "trec-pm-pool"
    fields = ("mesh",)
    fingerprint = "pool"

    def __init__(self, folder):
        self._files = sorted((folder / "docs").glob("*.jsonl.gz"))

    def __iter__(self):
        for path in self._files:
            with gzip.open(path) as lines:
                for line in lines:
                    read = orjson.loads(line)
                    mesh = tuple(read.get("mesh", ()))
                    yield Document(read["id"], read["title"], read["abstract"], {"mesh": mesh})


@pytest.fixture(scope="module")
def pool(test_data, cache_of_module):
    index = LuceneIndex.open(build_index(Pool(test_data / "trec-pm")).path)
    yield index
    index.close()


@pytest.fixture(scope="module")
def queries(test_data):
    topics = ET.parse(test_data / "trec-pm" / "topics" / "topics2017.xml").getroot()
    return {t.get("number"): f"{t.findtext('disease')} {t.findtext('gene')}" for t in topics}


def test_bm25_reaches_the_published_figures(pool, queries, test_data):
    import ir_measures

    qrels = test_data / "trec-pm" / "qrels" / "qrels-treceval-abstracts.2017.txt"
    run = Run("bm25", pool.search(queries, 1000))
    figures = {"nDCG@20": 0.4404, "AP": 0.2408, "P@10": 0.4900, "Rprec": 0.2687}
    measured = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(name) for name in figures],
        list(ir_measures.read_trec_qrels(str(qrels))),
        {topic: dict(ranking) for topic, ranking in run.rankings.items()},
    )
    assert {str(m): value for m, value in measured.items()} == pytest.approx(figures, abs=0.002)


@pytest.mark.parametrize("feedback", [None, RM3()])
def test_the_number_of_threads_changes_nothing(pool, queries, feedback):
    alone = pool.search(queries, 1000, feedback=feedback, threads=1)
    together = pool.search(queries, 1000, feedback=feedback, threads=4)
    for topic in queries:
        assert alone[topic].doc_ids == together[topic].doc_ids
        assert (alone[topic].scores == together[topic].scores).all()


def test_feedback_ranks_as_anserini_does(pool, queries):
    """Anserini's searcher moves the scores of ties apart, hence the tolerance."""
    from irplatform.lucene.java import java_class

    rankings = pool.search(queries, 100, feedback=RM3())
    searcher = java_class("io.anserini.search.SimpleSearcher")(str(pool.path))
    searcher.set_bm25(0.9, 0.4)
    searcher.set_rm3("JsonCollection", 10, 10, 0.5)
    for topic in list(queries)[:5]:
        scores = {hit.docid: hit.score for hit in searcher.search(queries[topic], 100)}
        assert dict(rankings[topic]) == pytest.approx(scores, abs=1e-3)
    searcher.close()
