"""The sparse encoder as a reranker: scores of sentence-transformers, explained word by word."""

import json

import numpy as np
import pytest
from bi_encoders import OTHER, QUERY, read_documents
from pretrained_models import WORDS
from small import chosen, small_resources
from sparse_models import dense, library, opened, save_splade, save_without_inference

from irplatform.errors import InputError
from irplatform.plugin import Documents, Topic
from irplatform.reports.explanation import explanation_text
from irplatform_encoders.sparse.options import SparseEncoderOptions
from irplatform_encoders.sparse.reranker import SparseEncoder


@pytest.fixture(scope="module")
def splade(tmp_path_factory):
    return save_splade(tmp_path_factory.mktemp("models") / "model")


def _reranker(folder, resources, **options):
    reranker = SparseEncoder(SparseEncoderOptions(model=str(folder), **options))
    reranker.prepare(resources)
    return reranker


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_scores_are_similarities_of_sentence_transformers(tmp_path, text_resources, similarity):
    model = save_splade(tmp_path / "model", similarity_fn_name=similarity)
    reference, read = library(model), read_documents(text_resources, 30)
    expected = reference.similarity(
        reference.encode_query([QUERY.query]), reference.encode_document([d.text for d in read])
    )
    if not expected.is_sparse:
        expected = expected.numpy()
    expected = np.asarray(expected)[0] * [bool(document.text.strip()) for document in read]
    scores = _reranker(model, text_resources, long="cut").score(QUERY, read)
    assert np.std(scores) > 1e-3
    assert np.abs(scores - expected).max() <= 1e-5 * max(1, expected.max())


def test_the_best_part_of_a_long_document_counts(splade, text_resources):
    read = read_documents(text_resources)
    scores = _reranker(splade, text_resources).score(QUERY, read)
    parts = opened(splade).split([document.text for document in read])
    reference = library(splade)
    (query,) = dense(reference, "query", [QUERY.query])
    expected = [max(dense(reference, "document", of_text) @ query) for of_text in parts]
    assert np.allclose(scores, expected, rtol=1e-5)
    assert scores != _reranker(splade, text_resources, long="cut").score(QUERY, read)


def test_scores_do_not_depend_on_order_company_or_other_topics(splade, text_resources):
    read = list(read_documents(text_resources))
    reranker = _reranker(splade, text_resources)
    together = np.array(reranker.score(QUERY, Documents.of(read)))
    order = np.random.default_rng(0).permutation(len(read))
    again = small_resources(
        text_resources.folder.with_name("again") / "forward", text_resources.texts, _VECTORS
    )
    other = _reranker(splade, again, batch_size=2)
    several = other.score_batch(
        [
            (OTHER, Documents.of(read[:5])),
            (QUERY, Documents.of([])),
            (QUERY, Documents.of([read[i] for i in order])),
        ]
    )
    assert [len(scores) for scores in several] == [5, 0, len(read)]
    assert np.array_equal(several[2], together[order])


_VECTORS = {word: np.ones(2) for word in WORDS}


def test_documents_and_queries_without_text_have_score_0(splade, tmp_path):
    texts = {"full": "w1 w2", "empty": "", "blank": " "}
    resources = small_resources(tmp_path / "forward", texts, _VECTORS)
    reranker = _reranker(splade, resources)
    scores = reranker.score(QUERY, read_documents(resources))
    assert scores[0] > 0
    assert scores[1:] == [0, 0]
    assert reranker.score(Topic("t", " "), read_documents(resources)) == [0, 0, 0]


def test_an_explanation_says_what_each_word_adds(splade, text_resources):
    reranker, read = _reranker(splade, text_resources), read_documents(text_resources, 20)
    scores = reranker.score(QUERY, read)
    for explanation, score in zip(reranker.explain(QUERY, read), scores, strict=True):
        assert explanation["score"] == score
        assert {row["word"] for row in explanation["query_words"]} <= set(QUERY.query.split())
        assert not {row["word"] for row in explanation["added_words"]} & set(QUERY.query.split())
        for name, total in (("query_words", "of_query_words"), ("added_words", "of_added_words")):
            adds = [row["adds"] for row in explanation[name]]
            assert sum(adds) == pytest.approx(explanation[total])
            rows = [row for row in explanation[name] if "query_weight" in row]
            assert adds[: len(rows)] == sorted(adds[: len(rows)], reverse=True)
            for row in rows:
                assert row["adds"] == pytest.approx(row["query_weight"] * row["document_weight"])
        assert explanation["of_query_words"] + explanation["of_added_words"] == pytest.approx(score)
        json.dumps(explanation)
    text = explanation_text(explanation, rows=30, room=80)
    assert "others" in text
    assert max(map(len, text.splitlines())) <= 80


def test_pieces_of_words_say_which_word_they_are_in(tmp_path, text_resources):
    reranker = _reranker(save_without_inference(tmp_path / "model"), text_resources)
    read = read_documents(text_resources, 1)
    (explanation,) = reranker.explain(Topic("t", "w3w w3-w4 w5"), read)
    said = {row["word"]: row["in"] for row in explanation["query_words"]}
    assert said == {"w3": "w3-w4", "w4": "w3-w4", "w5": "w5", "[UNK]": "w3w, w3-w4"}
    (plain,) = reranker.explain(Topic("t", "w3 w5"), read)
    assert "in" not in plain["query_words"][0]


def test_an_explanation_names_the_part_that_counts(splade, text_resources):
    reranker = _reranker(splade, text_resources)
    explanations = reranker.explain(QUERY, read_documents(text_resources))
    assert {part["part"] for part in explanations if "part" in part} == {"1 of 2", "2 of 2"}


def test_queries_without_inference_have_no_added_words(tmp_path, text_resources):
    model = save_without_inference(tmp_path / "model")
    explanations = _reranker(model, text_resources).explain(
        QUERY, read_documents(text_resources, 5)
    )
    assert [part["added_words"] for part in explanations] == [[]] * 5
    assert all(len(part["query_words"]) == 3 for part in explanations)


def test_scores_depend_on_the_model_s_files(splade, tmp_path):
    other = save_splade(tmp_path / "other", seed=2)

    def of(**options):
        return SparseEncoder(SparseEncoderOptions(**options)).reads().more

    assert of(model=str(splade)) != of(model=str(other))
    assert of(model=str(splade)) != of(model=str(splade), query_model=str(other))
    with pytest.raises(InputError, match=r"'sparse-encoder' needs a model"):
        of()


def test_its_score_may_be_a_feature(splade):
    settings = {"stack": {"settings": {"sparse-encoder": {"model": str(splade)}}}}
    with_it = chosen("ltr", stack=["sparse-encoder"], settings=settings).describe_reads()
    assert with_it != chosen("ltr").describe_reads()
