"""An index of sparse vectors finds what an exhaustive product finds, in the order of runs."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random

from irplatform.errors import PlatformError
from irplatform.postings import sparse_index
from irplatform.postings.search import has_numba
from irplatform.postings.sparse_index import SparseIndex
from irplatform.runs import Ranking

NUMBA = pytest.mark.skipif(not has_numba(), reason="needs numba")


def index_of(folder, doc_ids, vectors, *, words=None, step=None):
    folder.mkdir()
    vectors = csr_matrix(vectors, dtype=np.float32)
    words = words or [f"w{column}" for column in range(vectors.shape[1])]
    SparseIndex.write(folder, doc_ids, words, vectors.__getitem__, step=step)
    return SparseIndex(folder)


def exhaustive(doc_ids, vectors, query, depth):
    products = vectors.astype(np.float64) @ query.toarray()[0].astype(np.float64)
    best = {}
    for doc_id, score in zip(doc_ids, products, strict=True):
        if score > 0:
            best[doc_id] = max(best.get(doc_id, 0), score)
    return Ranking.of([*best], [*best.values()]).top(depth)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=NUMBA)])
@pytest.mark.parametrize("depth", [1, 10, 1000])
@pytest.mark.parametrize("parts", [1, 3])
def test_a_search_finds_what_an_exhaustive_product_finds(tmp_path, depth, parts, compiled):
    vectors = random(400, 60, 0.1, "csr", np.float32, random_state=1)
    vectors.data = np.round(vectors.data, 1)  # ties
    doc_ids = [f"d{number // parts}" for number in range(400)]
    queries = random(20, 60, 0.1, "csr", np.float32, random_state=2)
    index = index_of(tmp_path / "index", doc_ids, vectors)
    rankings = index.search(queries, depth, compiled=compiled)
    for query, ranking in zip(queries, rankings, strict=True):
        expected = exhaustive(doc_ids, vectors, query, depth)
        assert ranking.doc_ids == expected.doc_ids
        np.testing.assert_allclose(ranking.scores, expected.scores, rtol=1e-6)


def test_a_rounded_index_is_off_by_half_a_step_per_word_at_most(tmp_path):
    vectors = random(200, 30, 0.3, "csr", np.float32, random_state=3)
    doc_ids = [f"d{number}" for number in range(200)]
    queries = random(5, 30, 0.3, "csr", np.float32, random_state=4)
    step = vectors.max() / 255
    index = index_of(tmp_path / "index", doc_ids, vectors, step=step)
    assert index.scale == pytest.approx(step)
    products = (vectors @ queries.T).toarray().T
    for query, product, ranking in zip(queries, products, index.search(queries, 200), strict=True):
        for doc_id, score in zip(ranking.doc_ids, ranking.scores, strict=True):
            assert abs(score - product[int(doc_id[1:])]) <= query.sum() * step / 2 + 1e-6


def test_one_vector_and_a_word_of_one_document_are_found(tmp_path):
    index = index_of(tmp_path / "index", ["d"], [[0, 2.0]])
    assert index.search(csr_matrix([[0, 1.5]]), 1000)[0].doc_ids == ("d",)
    assert index.search(csr_matrix([[1.5, 0]]), 1000)[0].doc_ids == ()
    assert index.search(csr_matrix([[0.0, 0]]), 1000)[0].doc_ids == ()


def test_without_documents_nothing_is_found(tmp_path):
    index = index_of(tmp_path / "index", [], np.empty((0, 2)))
    assert index.search(csr_matrix([[1.0, 1]]), 5)[0].doc_ids == ()


def test_of_a_document_with_several_vectors_the_best_counts(tmp_path):
    vectors = [[1.0, 0], [3.0, 0], [2.0, 0], [2.5, 1]]
    index = index_of(tmp_path / "index", ["a", "a", "b", "a"], vectors)
    (ranking,) = index.search(csr_matrix([[1.0, 0]]), 2)
    assert ranking.doc_ids == ("a", "b")
    assert [*ranking.scores] == [3, 2]


def test_postings_are_written_word_by_word(tmp_path):
    folder = tmp_path / "index"
    folder.mkdir()
    places, weights = np.array([2, 0]), np.array([255, 3], np.float32)
    words = [("lung", places, weights), ("dose", np.array([1]), np.array([0.0], np.float32))]
    SparseIndex.write_postings(folder, ["d1", "d2", "d3"], words)
    index = SparseIndex(folder)
    assert (folder / "weights.uint8").exists()
    assert [*index.words] == ["lung", "dose"]
    (ranking,) = index.search(csr_matrix([[2.0, 1.0]]), 10)
    assert dict(zip(ranking.doc_ids, ranking.scores, strict=True)) == {"d3": 510, "d1": 6}


@pytest.mark.parametrize("weight", [256, 0.5, 1e6])
def test_weights_that_fit_no_byte_are_kept_as_they_are(tmp_path, weight):
    folder = tmp_path / "index"
    folder.mkdir()
    weights = np.array([weight], np.float32)
    SparseIndex.write_postings(folder, ["d"], [("lung", np.array([0]), weights)])
    (ranking,) = SparseIndex(folder).search(csr_matrix([[1.0]]), 10)
    assert ranking.scores[0] == np.float32(weight)


def test_postings_that_fit_no_byte_are_rounded_where_that_is_asked_for(tmp_path):
    folder = tmp_path / "index"
    folder.mkdir()
    weights = np.array([510, 2, 0.5], np.float32)
    words = [("lung", np.array([0, 1, 2]), weights)]
    SparseIndex.write_postings(folder, ["d1", "d2", "d3"], words, rounded=True)
    (ranking,) = SparseIndex(folder).search(csr_matrix([[1.0]]), 10)
    assert dict(zip(ranking.doc_ids, ranking.scores, strict=True)) == {"d1": 510, "d2": 2}


def test_vectors_come_back_as_they_were_written(tmp_path):
    vectors = random(50, 20, 0.2, "csr", np.float32, random_state=5)
    doc_ids = sorted((f"d{number:02}" for number in range(50)), reverse=True)
    index = index_of(tmp_path / "index", doc_ids, vectors)
    parts = [index.vectors(0, 30).toarray(), index.vectors(30, 50).toarray()]
    np.testing.assert_array_equal(np.vstack(parts), vectors.toarray())
    words = [word for word, _, _ in index.postings()]
    assert words == sorted(f"w{column}" for column in range(20))
    for word, numbers, weights in index.postings():
        column = int(word[1:])
        np.testing.assert_array_equal(vectors[:, [column]].toarray()[numbers, 0], weights)


def test_words_are_distinct(tmp_path):
    with pytest.raises(PlatformError, match="'lung' comes twice"):
        index_of(tmp_path / "index", ["d"], [[1.0, 2.0]], words=["lung", "lung"])


@NUMBA
def test_searches_are_compiled_once_they_have_taken_long(tmp_path, monkeypatch):
    monkeypatch.setattr(sparse_index, "_WORTH_COMPILING", 10)
    ways = []
    search = sparse_index.search
    monkeypatch.setattr(
        sparse_index, "search", lambda *a, **k: ways.append(k["compiled"]) or search(*a, **k)
    )
    index = index_of(tmp_path / "index", ["a", "b"], [[1.0, 0], [3.0, 1]])
    first, second, third = (index.search(csr_matrix([[1.0, 1]]), 5)[0] for _ in range(3))
    assert ways == [False, False, True]
    assert first.doc_ids == second.doc_ids == third.doc_ids == ("b", "a")
