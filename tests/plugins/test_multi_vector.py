"""Late interaction: scores and rankings are those of the model; explanations add up to them."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from multi_vector_models import (
    KINDS,
    library_is_too_old,
    of_the_library,
    open_multi_vector,
    save_multi_vector,
)
from pretrained_models import WORDS, texts
from small import small_resources

from irplatform.errors import InputError
from irplatform.plugin import Document, Documents, Topic
from irplatform.reports.explanation import explanation_text
from irplatform_encoders.multi_vector.model import TokenEncoder
from irplatform_encoders.multi_vector.options import MultiVectorOptions
from irplatform_encoders.sending import SentEncoder

pytestmark = pytest.mark.skipif(
    library_is_too_old(), reason="sentence-transformers has multi-vector models since 6.0"
)
QUERY, OTHER = Topic("t", "w3 w4 w5"), Topic("u", "w9 w30 w41 w7")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_multi_vector(tmp_path_factory.mktemp("models") / "model")


def _documents(resources, count=None):
    return resources.documents(list(resources.texts)[:count])


def _of_the_library(folder, query, read):
    library = of_the_library(folder)
    vectors = library.encode_document(list(read))
    return library.similarity(library.encode_query([query]), vectors)[0].numpy()


def _again(resources):
    """The same documents with an empty cache."""
    return small_resources(
        resources.folder.with_name(f"again{len(resources.built)}") / "forward",
        resources.texts,
        {word: np.ones(2) for word in WORDS},
    )


@pytest.mark.parametrize("kind", ["expanded", "mean", "pooled", "PyLate", "Stanford"])
def test_scores_are_those_of_sentence_transformers(kind, text_resources, tmp_path):
    folder = KINDS[kind](tmp_path / "model")
    exact = {"long": "cut", "compression": "float32"}
    scores = open_multi_vector(folder, text_resources, **exact).score(
        QUERY, _documents(text_resources)
    )
    read = list(text_resources.texts.values())
    expected = _of_the_library(folder, QUERY.query, read)
    filled = [place for place, text in enumerate(read) if text]
    assert np.std(expected[filled]) > 1e-3
    assert np.allclose(np.array(scores)[filled], expected[filled], atol=1e-5)
    assert [score for score, text in zip(scores, read, strict=True) if not text] == [0] * (
        len(read) - len(filled)
    )


@pytest.mark.parametrize(("compression", "error"), [("float16", 0.01), ("int8", 0.2)])
def test_compressed_vectors_give_nearly_the_same(folder, text_resources, compression, error):
    read = _documents(text_resources)
    exact, short = (
        np.array(open_multi_vector(folder, text_resources, compression=kind).score(QUERY, read))
        for kind in ("float32", compression)
    )
    assert not np.array_equal(exact, short)
    assert np.allclose(exact, short, atol=error)


def test_the_best_part_of_a_long_document_counts(folder, text_resources):
    reranker = open_multi_vector(folder, text_resources, max_length=16, compression="float32")
    scores = reranker.score(QUERY, _documents(text_resources, 30))
    library = of_the_library(folder)
    encoder = TokenEncoder(MultiVectorOptions(model=str(folder), max_length=16), "cpu")
    for text, score in zip(list(text_resources.texts.values())[:30], scores, strict=True):
        if parts := encoder.split([text])[0]:
            query = library.encode_query([QUERY.query])
            alone = library.similarity(query, library.encode_document(parts))[0].numpy()
            assert score == pytest.approx(alone.max(), abs=1e-5)
    (notice,) = text_resources.told
    assert notice.endswith(
        "of 30 documents that were encoded are longer than the 16 tokens that the model reads: "
        "they are split, and their best part counts (multi-vector.long)"
    )


def test_scores_do_not_depend_on_order_company_or_batches(folder, text_resources):
    read = list(_documents(text_resources))
    together = np.array(open_multi_vector(folder, text_resources).score(QUERY, Documents.of(read)))
    order = np.random.default_rng(0).permutation(len(read))
    reranker = open_multi_vector(folder, _again(text_resources), batch_size=2)
    shuffled = reranker.score(QUERY, Documents.of([read[i] for i in order]))
    assert np.allclose(shuffled, together[order], atol=1e-5)
    several = reranker.score_batch(
        [(OTHER, Documents.of(read[:5])), (QUERY, Documents.of([])), (QUERY, Documents.of(read))]
    )
    assert [len(scores) for scores in several] == [5, 0, len(read)]
    assert np.allclose(several[2], together, atol=1e-5)


def test_a_query_without_words_scores_0(folder, text_resources):
    reranker = open_multi_vector(folder, text_resources)
    assert reranker.score(Topic("t", " "), _documents(text_resources, 4)) == [0, 0, 0, 0]
    assert reranker.explain(Topic("t", " "), _documents(text_resources, 1)) == [{"score": 0}]


def test_a_document_is_encoded_once(folder, text_resources, monkeypatch):
    encoded = []
    documents_of = TokenEncoder.documents

    def counted(self, read):
        encoded.extend(read)
        return documents_of(self, read)

    reranker = open_multi_vector(folder, text_resources)
    monkeypatch.setattr(TokenEncoder, "documents", counted)
    scores = reranker.score_batch(
        [(QUERY, _documents(text_resources, 30)), (OTHER, _documents(text_resources, 40))]
    )
    assert len(encoded) == 40
    monkeypatch.undo()
    again = open_multi_vector(folder, text_resources)
    monkeypatch.setattr(TokenEncoder, "documents", counted)
    assert again.score(QUERY, _documents(text_resources, 30)) == scores[0]
    assert len(encoded) == 40


def test_scores_are_the_same_where_vectors_do_not_fit_in_the_cache(folder, text_resources):
    batch = [(QUERY, _documents(text_resources)), (OTHER, _documents(text_resources, 50))]
    expected = open_multi_vector(folder, text_resources).score_batch(batch)
    small = _again(text_resources)
    limited = open_multi_vector(folder, small, cache_gigabytes=2e-5)
    assert limited.score_batch(batch) == expected
    notices = [line for line in small.told if "left of" in line]
    assert len(notices) == 1
    assert "0.02 MB are left of multi-vector.cache_gigabytes=2e-05" in notices[0]
    (store,) = small.folder.glob("multi-vector-*/records.bin")
    assert 0 < store.stat().st_size <= 20_000


@given(bit=st.integers(0, 8 * 4000))
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_vectors_are_made_again(folder, text_resources, bit):
    read = _documents(text_resources)
    expected = open_multi_vector(folder, text_resources).score(QUERY, read)
    (path,) = text_resources.folder.glob("multi-vector-*/records.bin")
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    assert open_multi_vector(folder, text_resources).score(QUERY, read) == expected


def test_each_compression_has_a_store_of_its_own(folder, text_resources):
    for kind in ("float32", "float16", "int8", "float16"):
        open_multi_vector(folder, text_resources, compression=kind)
    assert text_resources.built == ["multi-vector"] * 3


def test_numbers_beyond_16_bits_are_refused_with_a_remedy(text_resources, tmp_path):
    import torch
    from safetensors.torch import load_file, save_file

    folder = save_multi_vector(tmp_path / "model", normalized=False)
    path = folder / "1_Dense" / "model.safetensors"
    save_file({"linear.weight": load_file(path)["linear.weight"] * torch.tensor(1e6)}, path)
    read = _documents(text_resources, 5)
    with pytest.raises(
        InputError, match=r"too large for 16 bits: .*multi-vector.compression.*float32"
    ):
        open_multi_vector(folder, text_resources).score(QUERY, read)
    assert open_multi_vector(folder, text_resources, compression="float32").score(QUERY, read)


def test_queries_that_are_cut_are_told(folder, text_resources):
    reranker = open_multi_vector(folder, text_resources)
    long = Topic("l", " ".join(WORDS[:20]))
    reranker.score_batch([(QUERY, _documents(text_resources, 1))])
    assert not [line for line in text_resources.told if "Queries" in line]
    reranker.score_batch([(topic, _documents(text_resources, 1)) for topic in (QUERY, long)])
    assert text_resources.told[-1] == (
        "Queries are longer than the 12 tokens that the model reads of one: their ends are cut "
        "(multi-vector.query_length)"
    )


def test_a_model_without_metadata_is_told(tmp_path, text_resources):
    folder = KINDS["Stanford"](tmp_path / "model")
    (folder / "artifact.metadata").unlink()
    reranker = open_multi_vector(folder, text_resources)
    (notice,) = text_resources.told
    assert notice.startswith("artifact.metadata is missing")
    assert reranker._encoder.longest_query == 32


def test_workers_make_the_same_vectors(folder):
    options = MultiVectorOptions(model=str(folder))
    encoder = pickle.loads(
        pickle.dumps(SentEncoder(TokenEncoder, options, "cpu", TokenEncoder.documents))
    )
    read = texts(1, 9)
    expected = TokenEncoder(options, "cpu").documents(read)
    for parts, others in zip(encoder(read), expected, strict=True):
        assert all(map(np.array_equal, parts, others))


def test_an_explanation_tells_which_words_met_and_adds_up(folder, text_resources):
    said = "W1 w2 w3. W40 w41 w7. W3 w4 w5. W9 w10."
    document = Document("d0", "", said)
    text_resources.texts["d0"] = said
    reranker = open_multi_vector(folder, text_resources, compression="float32")
    (explanation,) = reranker.explain(QUERY, Documents.of([document]))
    assert explanation["score"] == pytest.approx(reranker.score(QUERY, Documents.of([document]))[0])
    assert explanation["of words"] + explanation["of added tokens"] == pytest.approx(
        explanation["score"], abs=1e-5
    )
    assert sum(row["adds"] for row in explanation["words"]) == pytest.approx(
        explanation["of words"]
    )
    assert [row["query word"] for row in explanation["words"]] == ["w3", "w4", "w5"]
    library = of_the_library(folder)
    query, words = (
        library.encode_query([QUERY.query], convert_to_numpy=True)[0],
        library.encode_document([said], convert_to_numpy=True)[0],
    )
    products = (query @ words.T).max(axis=1)  # of [CLS], the prompt, three words, [SEP] and masks
    assert [row["adds"] for row in explanation["words"]] == pytest.approx(products[2:5], abs=1e-5)
    added = sum(row["adds"] for row in explanation["added tokens"])
    assert added <= products.sum() - products[2:5].sum() + 1e-5
    text = explanation_text(explanation)
    assert max(map(len, text.splitlines())) <= 72


def test_an_explanation_names_the_part_and_marks_pieces_of_words(tmp_path, text_resources):
    folder = save_multi_vector(tmp_path / "model", reader={"query_expansion": None})
    reranker = open_multi_vector(folder, text_resources, max_length=12)
    said = "w1 w2 w3 w4 w9 w10 w11 w12 w20-w21 w22"
    text_resources.texts["d0"] = said
    (explanation,) = reranker.explain(
        Topic("t", "w20-w21 w1"), Documents.of([Document("d0", "", said)])
    )
    assert explanation["part"] in {"1 of 2", "2 of 2"}
    marked = [row["query word"] for row in explanation["words"]]
    assert marked == ["[w20]-w21", "w20[-]w21", "w20-[w21]", "w1"]
    met = [row["document word"] for row in explanation["words"] if row["document word"]]
    assert all(word in {"[CLS]", "[SEP]", "w51"} or "«" in word for word in met)


def test_vectors_that_are_no_token_s_are_explained_without_words(tmp_path, text_resources):
    reranker = open_multi_vector(KINDS["pooled"](tmp_path / "model"), text_resources)
    read = _documents(text_resources, 3)
    for explanation, score in zip(
        reranker.explain(QUERY, read), reranker.score(QUERY, read), strict=True
    ):
        assert explanation["score"] == pytest.approx(score)
        assert {row["document word"] for row in explanation["words"]} == {None}


def test_other_kinds_are_explained(tmp_path, text_resources):
    for kind in ("mean", "ModernBERT", "PyLate", "Stanford", "floor"):
        reranker = open_multi_vector(KINDS[kind](tmp_path / kind), text_resources)
        read = _documents(text_resources, 2)
        for explanation, score in zip(
            reranker.explain(QUERY, read), reranker.score(QUERY, read), strict=True
        ):
            added = sum(explanation.get(name, 0) for name in ("of words", "of added tokens"))
            assert added == pytest.approx(score, rel=1e-5)
            assert [row["query word"] for row in explanation["words"]] == ["w3", "w4", "w5"]
