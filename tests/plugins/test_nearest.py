"""Nearest documents by their vectors: exactly or by clusters, equal ones in the order of runs."""

import numpy as np
import pytest
from small import small_resources, words

from irplatform.plugin import Topic
from irplatform.registry.loading import registry
from irplatform_encoders.nearest import build_index, nearest, open_index


def _doc_ids(rows):
    return [f"d{row:04}" for row in rows]


def _index(folder, vectors, *, exact):
    count, width = vectors.shape
    build_index(
        folder, count, width, lambda rows: vectors[rows], exact=exact, advance=lambda _n: None
    )
    return open_index(folder, 24)


def _unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_all_documents_are_compared_exactly(tmp_path):
    vectors = _unit(np.random.default_rng(3).normal(size=(300, 8)))
    (ranking,) = nearest(_index(tmp_path, vectors, exact=True), vectors[:1], 5, 1, _doc_ids)
    best = np.argsort(-(vectors @ vectors[0]))[:5]
    assert ranking.doc_ids == tuple(_doc_ids(best))
    np.testing.assert_allclose(ranking.scores, (vectors @ vectors[0])[best], atol=1e-6)


def test_clusters_find_most_of_what_is_nearest(tmp_path):
    random = np.random.default_rng(1)
    centres = random.normal(size=(60, 16))
    vectors = _unit(centres[random.integers(60, size=3000)] + 0.3 * random.normal(size=(3000, 16)))
    rankings = nearest(_index(tmp_path, vectors, exact=False), vectors[:50], 10, 1, _doc_ids)
    exact = np.argsort(-(vectors[:50] @ vectors.T), axis=1)[:, :10]
    shared = [len(set(a.doc_ids) & set(_doc_ids(b))) for a, b in zip(rankings, exact, strict=True)]
    assert np.mean(shared) >= 9


def test_a_query_without_a_direction_finds_nothing(tmp_path):
    vectors = _unit(np.random.default_rng(3).normal(size=(20, 4)))
    (ranking,) = nearest(
        _index(tmp_path, vectors, exact=True), np.zeros((1, 4), np.float32), 5, 1, _doc_ids
    )
    assert len(ranking) == 0


def test_of_equal_documents_at_the_end_the_order_of_runs_decides(tmp_path):
    vectors = np.zeros((40, 4), np.float32)
    vectors[:, 0], vectors[7, 0] = 0.5, 1
    query = np.eye(1, 4, dtype=np.float32)
    (ranking,) = nearest(_index(tmp_path, vectors, exact=True), query, 3, 1, _doc_ids)
    assert ranking.doc_ids == ("d0007", "d0039", "d0038")


@pytest.mark.parametrize("depth", [3, 60])
def test_so_it_does_where_word_vectors_are_compared(tmp_path, depth):
    term, other = words(2)
    random = np.random.default_rng(5)
    texts = {f"d{number:02}": f"{term} {term}" for number in random.permutation(40)}
    texts |= {"best": term, "e": f"{term} {other}"}
    vectors = {word: random.normal(size=6) for word in (term, other)}
    resources = small_resources(tmp_path / "forward", texts, vectors)
    retriever = registry().retriever("embedding").create({})
    ranking = retriever.retrieve([Topic("t", term)], depth, resources).rankings["t"]
    equal = [d for d in ranking.doc_ids if d != "e"]
    assert equal == sorted(equal, reverse=True)
    assert equal[:3] == ["d39", "d38", "d37"]
    assert len(ranking) == min(depth, len(texts))
