"""The sparse encoder as a retriever: the library's similarities over all documents, exactly."""

import numpy as np
import pytest
from bi_encoders import OTHER, QUERY
from pretrained_models import WORDS
from small import small_resources
from sparse_models import dense, library, opened, save_splade, save_without_inference

from irplatform.plugin import Topic
from irplatform.runs import Ranking
from irplatform_encoders.sparse import json_vectors
from irplatform_encoders.sparse.search import SparseEncoderSearch, SparseSearchOptions

VECTORS = {word: np.ones(2) for word in WORDS}


@pytest.fixture(scope="module")
def splade(tmp_path_factory):
    return save_splade(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture(scope="module")
def without_inference(tmp_path_factory):
    return save_without_inference(tmp_path_factory.mktemp("models") / "model")


def retriever(folder, **options):
    arguments = {} if folder is None else {"model": str(folder)}
    return SparseEncoderSearch(SparseSearchOptions(**arguments, **options))


def products(model, texts, topic, *, cut):
    """The best similarity of a part of each document, by the library."""
    reference = library(model)
    (query,) = dense(reference, "query", [topic.query])
    parts = [[text] for text in texts] if cut else opened(model).split(texts)
    return [max(dense(reference, "document", of_text) @ query) for of_text in parts]


@pytest.mark.parametrize("depth", [5, 1000])
@pytest.mark.parametrize("long", ["cut", "split"])
@pytest.mark.parametrize("kind", ["splade", "without_inference"])
def test_all_documents_are_ranked_by_the_librarys_similarity(
    kind, long, depth, text_resources, request
):
    model = request.getfixturevalue(kind)
    run = retriever(model, long=long).retrieve([QUERY, OTHER], depth, text_resources)
    for topic in (QUERY, OTHER):
        scores = products(model, [*text_resources.texts.values()], topic, cut=long == "cut")
        expected = Ranking.of([*text_resources.texts], scores)
        ranking = run.rankings[topic.id]
        filled = sum(score > 0 for score in scores)
        assert len(ranking) == min(depth, filled)
        np.testing.assert_allclose(
            ranking.scores, expected.scores[: len(ranking)], rtol=1e-5, atol=1e-5
        )
        of_document = dict(zip(text_resources.texts, scores, strict=True))
        for doc_id, score in ranking:
            assert abs(of_document[doc_id] - score) <= 1e-5 * max(1, score)


def test_weights_in_a_byte_change_scores_by_half_a_step_per_word_at_most(splade, text_resources):
    plain = retriever(splade).retrieve([QUERY], 1000, text_resources).rankings[QUERY.id]
    search = retriever(splade, weights="8-bit")
    rounded = search.retrieve([QUERY], 1000, text_resources).rankings[QUERY.id]
    index = search._index(text_resources)
    (query,) = opened(splade).queries([QUERY.query])
    expected, scores = (dict(zip(r.doc_ids, r.scores, strict=True)) for r in (plain, rounded))
    off = [abs(expected[doc_id] - scores.get(doc_id, 0)) for doc_id in expected]
    assert 0 < max(off) <= query.sum() * index.scale / 2 + 1e-5


def test_nothing_is_found_for_a_text_without_words(splade, tmp_path):
    texts = {"full": "w1 w2", "empty": "", "blank": " "}
    resources = small_resources(tmp_path / "forward", texts, VECTORS)
    run = retriever(splade).retrieve([QUERY, Topic("blank", " ")], 10, resources)
    assert run.rankings[QUERY.id].doc_ids == ("full",)
    assert run.rankings["blank"].doc_ids == ()


def test_an_explanation_has_the_querys_words_apart_from_added_ones(splade, text_resources):
    explanation = retriever(splade).explain(QUERY, text_resources)
    encoder = opened(splade)
    (query,) = encoder.queries([QUERY.query])
    weights = {encoder.words[c]: w for c, w in zip(query.indices, query.data, strict=True)}
    query_words = {encoder.words[column] for column in encoder.read_words(QUERY.query)}
    assert {*explanation["words"]} == query_words & {*weights}
    assert {*explanation["added words"]} == {*weights} - query_words
    assert explanation["added words"]
    for words in explanation.values():
        assert [*words.values()] == sorted(words.values(), reverse=True)
        for word, weight in words.items():
            assert weight == pytest.approx(weights[word], abs=1e-4)


@pytest.mark.parametrize("long", ["cut", "split"])
@pytest.mark.parametrize("name", ["v.jsonl", "v.ciff.gz"])
def test_exported_vectors_are_ranked_like_the_index_that_they_come_from(
    splade, text_resources, tmp_path, name, long
):
    search = retriever(splade, long=long, weights="8-bit")
    with (tmp_path / name).open("wb") as file:
        facts = search.export(name, file, text_resources)
    again = retriever(splade, vectors=tmp_path / name)
    text_resources.told.clear()
    run, other = (s.retrieve([QUERY, OTHER], 50, text_resources) for s in (search, again))
    notices = [line for line in text_resources.told if "parts of documents (ID#1)" in line]
    assert len(notices) == (long == "split")
    assert "are left out" not in "".join(text_resources.told)
    for topic in (QUERY, OTHER):
        first, second = run.rankings[topic.id], other.rankings[topic.id]
        assert first.doc_ids == second.doc_ids
        unit = facts["a weight of 1 stands for"]
        np.testing.assert_allclose(first.scores, second.scores * unit, rtol=1e-5)


def test_topics_vectors_of_others_need_no_model(splade, text_resources, tmp_path):
    search = retriever(splade, long="cut", weights="8-bit")
    with (tmp_path / "v.jsonl").open("wb") as file:
        search.export("v.jsonl", file, text_resources)
    encoder = opened(splade)
    with (tmp_path / "q.jsonl").open("wb") as file:
        queries = encoder.queries([QUERY.query])
        words = {encoder.words[c]: float(w) for c, w in zip(*_row(queries), strict=True)}
        json_vectors.write_vectors(file, [(QUERY.id, words)])
    alone = retriever(None, vectors=tmp_path / "v.jsonl", queries=tmp_path / "q.jsonl")
    ranking, other = (
        s.retrieve([QUERY], 50, text_resources).rankings[QUERY.id] for s in (search, alone)
    )
    assert ranking.doc_ids == other.doc_ids
    assert not alone.traits().packages
    assert "torch" in search.traits().packages


def _row(vectors):
    return vectors.indices, vectors.data
