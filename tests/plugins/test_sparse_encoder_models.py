"""Sparse encoders: each kind of model has sentence-transformers' weights, or is refused."""

import json
import shutil

import numpy as np
import pytest
from pretrained_models import LONGEST, WORDS, save_sentence_encoder, save_transformer, texts
from sparse_models import (
    VOCABULARY,
    change_json,
    dense,
    library,
    opened,
    save_as_the_first_release,
    save_autoencoder,
    save_language_model,
    save_splade,
    save_with_two_sides,
    save_without_inference,
)

from irplatform.errors import InputError
from irplatform_encoders.biencoder import BiEncoder
from irplatform_encoders.options import BiEncoderOptions
from irplatform_encoders.sparse import model as sparse_model
from irplatform_encoders.sparse import pooling as sparse_pooling
from irplatform_encoders.sparse.model import depends_on
from irplatform_encoders.sparse.options import SparseEncoderOptions

READ = [*texts(3, 40), "w1", "  ", "words that nobody knows w3"]
SUM = {"pooling_strategy": "sum"}
TWICE = {"activation_function": "log1p_relu"}
KINDS = {
    "maximum": save_splade,
    "sum": lambda folder: save_splade(folder, pooling=SUM),
    "logarithm of the logarithm": lambda folder: save_splade(folder, pooling=TWICE),
    "sum of such": lambda folder: save_splade(folder, pooling={**SUM, **TWICE}),
    "prompts": lambda folder: save_splade(folder, prompts={"query": "w1 ", "document": "w3 "}),
    "passages": lambda folder: save_splade(folder, prompts={"passage": "w3 "}),
    "a default prompt": lambda folder: save_splade(
        folder, prompts={"all": "w5 "}, default_prompt_name="all"
    ),
    "fewer words": lambda folder: save_splade(folder, max_active_dims=5),
    "two sides": save_with_two_sides,
    "no inference": save_without_inference,
    "autoencoder": save_autoencoder,
    "autoencoder, fewer": lambda folder: save_autoencoder(folder, max_active_dims=4),
    "bare BERT": save_language_model,
    "DistilBERT": lambda folder: save_language_model(folder, "DistilBert"),
    "ModernBERT": lambda folder: save_language_model(folder, "ModernBert"),
    "RoBERTa": lambda folder: save_language_model(folder, "Roberta"),
    "DeBERTa": lambda folder: save_language_model(folder, "Deberta"),
    "no bias": lambda folder: save_language_model(folder, "ModernBert", decoder_bias=False),
    "weights of its own": lambda folder: save_language_model(folder, tie_word_embeddings=False),
    "more rows than words": lambda folder: save_language_model(folder, vocab_size=VOCABULARY + 7),
}


def _near(vectors, reference):
    return np.abs(vectors - reference).max() <= 1e-5 * max(1, reference.max())


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_those_of_sentence_transformers(kind, tmp_path):
    model = KINDS[kind](tmp_path / "model")
    reference, encoder = library(model), opened(model)
    for task, encoded in (("query", encoder.queries), ("document", encoder.documents)):
        expected = dense(reference, task, READ)
        vectors = encoded(READ)
        assert vectors.dtype == np.float32
        assert 0.02 < (expected > 0).mean() < 0.95, "some words, and not all"
        assert _near(vectors.toarray(), expected)
        alone = np.vstack([encoded([text]).toarray() for text in READ])
        assert np.array_equal(vectors.toarray(), alone), "other texts change no digit"


@pytest.mark.parametrize("kind", ["maximum", "sum", "two sides", "autoencoder"])
def test_padded_texts_have_the_same_weights(kind, tmp_path, monkeypatch):
    for module in (sparse_model, sparse_pooling):
        monkeypatch.setattr(module, "in_float32", lambda device: False)
    monkeypatch.setattr(sparse_pooling, "_ON_CPU", 1 << 12)  # several blocks of words
    model = KINDS[kind](tmp_path / "model")
    assert _near(opened(model).documents(READ).toarray(), dense(library(model), "document", READ))


@pytest.mark.parametrize("kind", ["maximum", "two sides", "no inference"])
def test_models_that_the_first_release_saved_are_opened(kind, tmp_path):
    model = KINDS[kind](tmp_path / "model")
    expected = opened(model).documents(READ).toarray()
    old = save_as_the_first_release(model)
    assert "models.MLMTransformer" in "".join(p.read_text() for p in old.rglob("*.json"))
    assert np.array_equal(opened(old).documents(READ).toarray(), expected)


def test_a_language_model_that_changes_logits_is_read_as_the_library_reads_it(
    tmp_path, monkeypatch
):
    from transformers import BertForMaskedLM

    forward = BertForMaskedLM.forward

    def softened(self, *args, **settings):
        output = forward(self, *args, **settings)
        output.logits = output.logits.tanh() * 3
        return output

    monkeypatch.setattr(BertForMaskedLM, "forward", softened)
    model = save_language_model(tmp_path / "model")
    assert _near(opened(model).documents(READ).toarray(), dense(library(model), "document", READ))


def test_threads_change_no_digit(tmp_path):
    model = save_splade(tmp_path / "model")
    one, three = (opened(model, threads=threads).documents(READ) for threads in (1, 3))
    assert np.array_equal(one.toarray(), three.toarray())


def test_columns_have_the_names_of_words(tmp_path):
    model = save_language_model(tmp_path / "model", vocab_size=VOCABULARY + 2)
    words = opened(model).words
    assert words[4:7] == ("[MASK]", "w0", "w1")
    assert words[-2:] == (f"[{VOCABULARY}]", f"[{VOCABULARY + 1}]")
    assert opened(save_autoencoder(tmp_path / "features")).words[:2] == ("feature-0", "feature-1")


@pytest.mark.parametrize("save", [save_splade, save_without_inference])
def test_a_query_says_which_words_are_its_own(save, tmp_path):
    encoder = opened(save(tmp_path / "model"), query_prompt="w5 ")
    words = encoder.read_words("w3 w9, w3-w8 new")
    origins = {encoder.words[column]: word for column, word in words.items()}
    expected = {"w3": "w3, w3-w8", "w8": "w3-w8", "w9": "w9", "[UNK]": "w9, w3-w8, new", "w5": ""}
    assert origins == expected


def test_features_of_an_autoencoder_are_no_words_of_a_query(tmp_path):
    assert opened(save_autoencoder(tmp_path / "model")).read_words("w3 w9") == {}


def test_few_words_of_a_document_are_those_with_the_largest_weights(tmp_path):
    model = save_splade(tmp_path / "model")
    all_of_them, few = (opened(model, **most).documents(READ) for most in ({}, {"most_words": 4}))
    for vector, part in zip(all_of_them, few, strict=True):
        largest = np.sort(vector.data)[::-1][:4]
        assert np.array_equal(np.sort(part.data)[::-1], largest)
        assert {*part.indices} <= {*vector.indices}
    assert np.array_equal(
        opened(model, most_words=4).queries(READ).toarray(), opened(model).queries(READ).toarray()
    )


def test_cosines_are_products_of_vectors_of_length_1(tmp_path):
    model = save_splade(tmp_path / "model", similarity_fn_name="cosine")
    encoder, reference = opened(model), library(model)
    read = [text for text in READ if text.strip()]
    scores = (encoder.queries(read) @ encoder.documents(read).T).toarray()
    vectors = reference.encode_query(read), reference.encode_document(read)
    assert np.allclose(scores, reference.similarity(*vectors).to_dense().numpy(), atol=1e-5)
    assert _near(
        opened(model, similarity="dot").documents(READ).toarray(),
        dense(reference, "document", READ),
    )


def test_distances_are_refused(tmp_path):
    model = save_splade(tmp_path / "model", similarity_fn_name="euclidean")
    with pytest.raises(InputError, match=r"compared by euclidean distance.*similarity': 'dot'"):
        opened(model)
    opened(model, similarity="dot")


def test_queries_may_have_a_model_of_their_own(tmp_path):
    documents = save_splade(tmp_path / "documents")
    queries = save_splade(tmp_path / "queries", seed=2)
    encoder = opened(documents, query_model=str(queries))
    assert np.array_equal(encoder.queries(READ).toarray(), opened(queries).queries(READ).toarray())
    assert np.array_equal(
        encoder.documents(READ).toarray(), opened(documents).documents(READ).toarray()
    )
    other = save_language_model(tmp_path / "other", vocab_size=VOCABULARY + 1)
    with pytest.raises(InputError, match="queries have other words than those of documents"):
        opened(documents, query_model=str(other))


def test_vectors_do_not_depend_on_how_queries_are_read(tmp_path):
    model = save_splade(tmp_path / "model")
    other = save_splade(tmp_path / "other", seed=2)
    before = opened(model).identity
    assert before == opened(model, query_prompt="w1", query_model=str(other)).identity
    for changed in (
        {"document_prompt": "w1"},
        {"max_length": 16},
        {"most_words": 3},
        {"long": "cut"},
        {"similarity": "cosine"},
    ):
        assert before != opened(model, **changed).identity
    read = {
        str(depends_on(SparseEncoderOptions(model=str(model), query_model=query)))
        for query in (None, str(other))
    }
    assert len(read) == 2


@pytest.mark.parametrize("save", [save_splade, save_with_two_sides, save_without_inference])
def test_vectors_depend_on_all_weights(save, tmp_path):
    model = save(tmp_path / "model")
    options = SparseEncoderOptions(model=str(model))
    for file in sorted(model.rglob("*.safetensors")):
        before = depends_on(options)
        _changed_weights(file, lambda tensors: {k: v + 1e-3 for k, v in tensors.items()})
        assert depends_on(options) != before


def test_a_router_may_have_a_part_in_its_own_folder(tmp_path):
    model = save_without_inference(tmp_path / "model")
    expected = opened(model).documents(READ).toarray()
    folder = next(model.glob("document_0_*"))
    for file in folder.iterdir():
        file.rename(model / file.name)
    folder.rmdir()
    path = model / "router_config.json"
    path.write_text(path.read_text().replace(f'"{folder.name}"', '""'))
    assert np.array_equal(opened(model).documents(READ).toarray(), expected)


def test_long_texts_are_split_into_parts_that_the_model_reads_whole(tmp_path):
    model = save_splade(tmp_path / "model")
    long = " ".join(WORDS)
    (parts, short) = opened(model, document_prompt="w1 ").split([long, "w1 w2"])
    assert " ".join(parts) == long
    assert max(len(part.split()) for part in parts) <= LONGEST - 3
    assert short == ["w1 w2"]
    assert opened(model, long="cut").split([long]) == [[long]]
    halved = opened(model, max_length=LONGEST // 2).split([long])[0]
    assert max(len(part.split()) for part in halved) <= LONGEST // 2 - 2


def test_more_tokens_than_the_model_reads_are_told(tmp_path):
    model = save_splade(tmp_path / "model")
    assert opened(model, max_length=LONGEST).notes == []
    notice = "The model reads 32 tokens at most, fewer than sparse-encoder.max_length=33"
    assert opened(model, max_length=LONGEST + 1).notes == [notice]


def _changed_weights(model, change):
    from safetensors.torch import load_file, save_file

    file = model if model.is_file() else model / "model.safetensors"
    save_file(change(load_file(file)), file, {"format": "pt"})
    return model


def test_weights_of_16_bits_are_read_in_32(tmp_path):
    import torch

    model = save_splade(tmp_path / "model")
    _changed_weights(model, lambda tensors: {k: v.bfloat16() for k, v in tensors.items()})
    change_json(model / "config.json", lambda config: {**config, "dtype": "bfloat16"})
    assert library(model)[0].auto_model.dtype == torch.float32
    assert _near(opened(model).documents(READ).toarray(), dense(library(model), "document", READ))


def test_weights_below_zero_are_refused(tmp_path):
    model = save_without_inference(tmp_path / "model", least=-0.5)
    with pytest.raises(InputError, match=r"weights below 0 \(of the word 'w\d+': -0\.\d+\)"):
        opened(model)


def test_weights_that_are_not_finite_are_refused(tmp_path):
    model = save_splade(tmp_path / "model")
    _changed_weights(model, lambda tensors: {k: v * float("nan") for k, v in tensors.items()})
    with pytest.raises(InputError, match="not finite"):
        opened(model).documents(READ)


def test_a_language_model_that_weights_are_missing_of_is_refused(tmp_path):
    model = save_splade(tmp_path / "model")
    _changed_weights(
        model, lambda tensors: {k: v for k, v in tensors.items() if "transform" not in k}
    )
    with pytest.raises(InputError, match=r"transform\..* is missing, and 3 more"):
        opened(model)


def test_models_that_would_get_random_weights_are_refused(tmp_path):
    bare = save_transformer(tmp_path / "bare")
    with pytest.raises(InputError, match=r"no model of sparse vectors \(config.json: BertModel\)"):
        opened(bare)
    vectors = save_sentence_encoder(tmp_path / "vectors")
    with pytest.raises(InputError, match=r"is a SentenceTransformer .*Use 'bi-encoder'"):
        opened(vectors)
    (vectors / "config_sentence_transformers.json").unlink()
    with pytest.raises(InputError, match=r"\(its parts are Transformer, Pooling\)"):
        opened(vectors)


def test_pickled_weights_are_refused(tmp_path):
    model = save_splade(tmp_path / "model")
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
    with pytest.raises(InputError, match="Pickled ones"):
        opened(model)


def test_a_model_without_a_side_for_queries_is_refused(tmp_path):
    model = save_with_two_sides(tmp_path / "model")

    def renamed(config):
        return json.loads(json.dumps(config).replace('"query"', '"question"'))

    change_json(model / "router_config.json", renamed)
    with pytest.raises(InputError, match="of a query: No route found for task type 'query'"):
        opened(model)


@pytest.mark.parametrize("save", [save_splade, save_without_inference])
def test_the_bi_encoder_names_the_sparse_one(save, tmp_path):
    model = save(tmp_path / "model")
    with pytest.raises(InputError, match=r"is a SparseEncoder .*Use 'sparse-encoder'"):
        BiEncoder(BiEncoderOptions(model=str(model))).reads()
    shutil.copytree(model, tmp_path / "copy")
    (tmp_path / "copy" / "config_sentence_transformers.json").unlink()
    with pytest.raises(InputError, match=r"is a SparseEncoder .*Use 'sparse-encoder'"):
        BiEncoder(BiEncoderOptions(model=str(tmp_path / "copy"))).reads()
