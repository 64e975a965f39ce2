"""Texts are scored as documents of the collection are, with its index or by a checkpoint alone."""

import shutil
import warnings

import numpy as np
import pytest

import irplatform as ir
from irplatform.data import Document
from irplatform.errors import InputError
from irplatform.text import ForwardIndex, build_forward_index
from irplatform.text.forward_index import FIELDS, WordStatistics
from irplatform.text.given_texts import GivenTexts, substitute

FEATURES = ["lexical", "stems", "embedding", "document", "demographics", "memory"]
QUICK = {"loop": {"epochs": 1}}
LEARNED = {
    "delta": {**QUICK, "filters": 8, "features": ["stems", "document"]},
    "drmm": QUICK,
    "deepsense": QUICK,
    "sevmos-c1": {**QUICK, "filters": 8},
    "deepmatch": QUICK,
    "dual-encoder": QUICK,
    "ltr": {"features": FEATURES, "learner": "trees", "stack": ["mbm"]},
    "mbm": {},
}
WORDS = {"vectors": {"dimensions": 16, "epochs": 2}}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        home = tmp_path_factory.mktemp("texts")
        patched.setenv("IRPLATFORM_HOME", str(home / "home"))
        yield home


def _trained(home, name):
    settings = dict(LEARNED[name])
    if name not in ("ltr", "mbm"):
        settings |= WORDS
    if name == "ltr":
        settings["settings"] = {"embedding": WORDS}
    out = home / name
    if not out.exists():
        with warnings.catch_warnings(action="ignore"):
            options = {"members": 1, "depth": 20, "settings": {name: settings}}
            ir.train("demo-train", name, out=out, **options)
    return out


def _same(ready, topic, ids, documents):
    expected = ready.scores([topic], {topic.id: ids}, cached=False)[topic.id]
    assert len(set(expected.tolist())) > 1
    np.testing.assert_allclose(ready.score(topic, documents), expected, atol=1e-6)
    return expected


def _pool():
    topic = next(iter(ir.collection("demo").topics))
    hits = ir.search("demo", topic.query, depth=6)["hits"]
    return topic, [hit["id"] for hit in hits]


@pytest.mark.java
@pytest.mark.parametrize("name", LEARNED)
def test_a_document_given_as_text_has_the_score_that_it_has_by_id(home, name):
    folder, (topic, ids) = _trained(home, name), _pool()
    ready = ir.reranker(name, "demo", checkpoint=folder)
    documents = list(ready.resources.documents(ids))
    expected = _same(ready, topic, ids, documents)
    alone = ir.reranker(name, checkpoint=folder)
    np.testing.assert_allclose(alone.score(topic, documents), expected, atol=1e-6)
    # Other texts under the same ids, and words that the collection lacks.
    other = [Document(d.id, "BRAF in melanoma", "qqzz of melanoma") for d in documents]
    np.testing.assert_allclose(alone.score(topic, other), ready.score(topic, other), atol=1e-6)
    assert np.abs(np.array(alone.score(topic, other)) - expected).max() > 1e-6
    assert ready.score("melanoma", ["", "qqzz"]) == ready.score("melanoma", ["", ""])


@pytest.mark.java
@pytest.mark.parametrize("name", ["bm25-text", "bm25-title", "dlh13", "uqlm-text", "uqlm-title"])
def test_baselines_score_texts_with_the_statistics_of_a_collection(home, name):
    topic, ids = _pool()
    ready = ir.reranker(name, "demo")
    _same(ready, topic, ids, list(ready.resources.documents(ids)))


@pytest.mark.java
def test_an_older_checkpoint_names_what_it_lacks(home, tmp_path):
    older = shutil.copytree(_trained(home, "drmm"), tmp_path / "older")
    shutil.rmtree(older / "words")
    (older / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"lacks since an earlier version wrote it: name the coll"):
        ir.reranker("drmm", checkpoint=older)
    ready = ir.reranker("drmm", "demo", checkpoint=older)
    assert len(ready.score("melanoma", ["BRAF in melanoma", "Asthma"])) == 2


@pytest.mark.java
def test_features_of_lucene_are_refused_for_texts(home):
    settings = {"ltr": {"features": ["lexical", "fields"], "learner": "trees"}}
    folder = home / "fields"
    with warnings.catch_warnings(action="ignore"):
        ir.train("demo-train", "ltr", out=folder, members=1, depth=20, settings=settings)
    ready = ir.reranker("ltr", "demo", checkpoint=folder)
    with pytest.raises(InputError, match=r"a text has no scores of Lucene \(features 'fields'\)"):
        ready.score("melanoma", ["BRAF in melanoma"])
    topic, ids = _pool()
    assert len(ready.scores([topic], {topic.id: ids})[topic.id]) == len(ids)


DOCUMENTS = [
    Document("1", "BRAF in melanoma", "The BRAF of 12 melanoma patients."),
    Document("2", "", "Asthma"),
    Document("3", "Melanoma", ""),
    Document("4"),
]


def test_given_texts_have_the_words_and_counts_that_documents_have(tmp_path):
    build_forward_index(DOCUMENTS, tmp_path / "index", workers=1)
    index = ForwardIndex.open(tmp_path / "index")
    WordStatistics.keep(index, tmp_path / "words.npz")
    statistics = WordStatistics(tmp_path / "words.npz")
    assert (statistics.count, statistics.held, list(statistics.vocabulary)) == (
        4,
        0,
        list(index.vocabulary),
    )
    ids = ["3", "1", "4", "2"]
    rows = index.rows(ids)
    texts = GivenTexts({document.id: document for document in DOCUMENTS})
    for other in (index, statistics):
        for field in FIELDS:
            for name in ("document_frequency", "collection_frequency", "idf"):
                assert (getattr(other, name)(field) == getattr(index, name)(field)).all()
            assert other.average_length(field) == index.average_length(field)
            for name in ("lengths", "unique_counts", "idf_mass"):
                expected = getattr(index, name)(field, rows)
                with substitute(texts):
                    values = getattr(other, name)(field, other.rows(ids))
                np.testing.assert_allclose(values, expected)
            words, offsets = index.tokens(rows, field)
            with substitute(texts):
                numbers, begins = other.tokens(other.rows(ids), field)
            assert (numbers.tolist(), begins.tolist()) == (words.tolist(), offsets.tolist())
        matrix = index.matrix(rows, 3).tolist()
        with substitute(texts):
            assert other.matrix(other.rows(ids), 3).tolist() == matrix
            assert other.rows(ids).min() >= other.held  # nothing stored of documents has such rows
    assert index.rows(ids).tolist() == rows.tolist()


def test_words_that_the_collection_lacks_are_left_out(tmp_path):
    build_forward_index(DOCUMENTS, tmp_path / "index", workers=1)
    index = ForwardIndex.open(tmp_path / "index")
    with substitute(GivenTexts({"x": Document("x", "zzz BRAF", "yyy melanoma zzz")})):
        rows = index.rows(["x"])
        words, offsets = index.tokens(rows)
        assert [index.vocabulary[word] for word in words] == ["braf", "melanoma"]
        assert offsets.tolist() == [0, 2]
        assert index.lengths("title", rows).tolist() == [1]
