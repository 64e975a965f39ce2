"""Models of bi-encoders: the files that are read, and those that are refused."""

import json
import shutil

import numpy as np
import pytest
from bi_encoders import QUERY, hidden_vectors, open_bi_encoder, read_documents
from pretrained_models import LONGEST, config, save_sentence_encoder, save_transformer, tokenizer
from small import chosen

from irplatform.errors import InputError
from irplatform_encoders.biencoder import BiEncoder, BiEncoderSearch
from irplatform_encoders.biencoder_model import Encoder
from irplatform_encoders.options import BiEncoderOptions, BiEncoderSearchOptions


def test_a_bare_transformer_is_told_how_to_pool(bare_encoder, text_resources):
    with pytest.raises(InputError, match=r"'bi-encoder\.pooling': 'mean'\} or cls"):
        open_bi_encoder(bare_encoder, text_resources)
    query = hidden_vectors(bare_encoder, QUERY.query)[0]
    read = read_documents(text_resources, 20)
    expected = [query @ hidden_vectors(bare_encoder, d.text)[0] * bool(d.text) for d in read]
    scores = open_bi_encoder(bare_encoder, text_resources, pooling="cls", similarity="dot").score(
        QUERY, read
    )
    assert np.allclose(scores, expected, atol=1e-4)


def test_pooling_that_the_model_says_itself_is_not_said_again(sentence_encoder, text_resources):
    with pytest.raises(InputError, match=r"take bi-encoder\.pooling out"):
        open_bi_encoder(sentence_encoder, text_resources, pooling="mean")


@pytest.mark.parametrize("system", [BiEncoder, BiEncoderSearch])
def test_pooling_is_settled_before_any_work(sentence_encoder, bare_encoder, system):
    wrong = {"model": str(bare_encoder)}, {"model": str(sentence_encoder), "pooling": "mean"}
    wrong += ({"model": str(sentence_encoder), "query_model": str(bare_encoder)},)
    for options in wrong:
        with pytest.raises(InputError, match=r"bi-encoder\.pooling"):
            system(system.Options(**options)).reads()


def test_distances_that_cannot_be_searched_for_are_refused(text_resources, tmp_path):
    far = save_sentence_encoder(tmp_path / "far", similarity_fn_name="euclidean")
    with pytest.raises(InputError, match="compared by euclidean distance"):
        open_bi_encoder(far, text_resources)
    assert open_bi_encoder(far, text_resources, similarity="cosine").score(
        QUERY, read_documents(text_resources, 3)
    )


def test_scores_depend_on_the_model_s_files(sentence_encoder, tmp_path):
    other = save_sentence_encoder(tmp_path / "other", seed=2)
    before = BiEncoder(BiEncoderOptions(model=str(sentence_encoder))).reads().more
    assert before != BiEncoder(BiEncoderOptions(model=str(other))).reads().more
    assert (
        before
        != BiEncoder(BiEncoderOptions(model=str(sentence_encoder), query_model=str(other)))
        .reads()
        .more
    )
    assert (
        before == BiEncoderSearch(BiEncoderSearchOptions(model=str(sentence_encoder))).reads().more
    )


def test_vectors_do_not_depend_on_how_queries_are_read(sentence_encoder, tmp_path):
    other = save_sentence_encoder(tmp_path / "other", seed=2)

    def of(**options):
        return Encoder(BiEncoderOptions(model=str(sentence_encoder), **options), "cpu").identity

    assert of() == of(query_prompt="query: ", query_model=str(other), batch_size=1)
    assert of() != of(document_prompt="passage: ")
    assert of() != of(max_length=16)


def _changed(folder, target, change):
    """A copy of a model with other tensors."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, target)
    (file,) = target.rglob("model.safetensors")
    save_file(change(load_file(file)), file, {"format": "pt"})
    return target


def test_a_model_that_weights_are_missing_of_is_refused(
    sentence_encoder, bare_encoder, tmp_path, text_resources
):
    def without(name):
        return lambda tensors: {k: v for k, v in tensors.items() if not k.startswith(name)}

    less = _changed(sentence_encoder, tmp_path / "less", without("encoder.layer.1."))
    with pytest.raises(InputError, match=r"encoder\.layer\.1\..* is missing, and 15 more"):
        open_bi_encoder(less, text_resources)
    less = _changed(bare_encoder, tmp_path / "bare", without("embeddings.word"))
    with pytest.raises(InputError, match=r"word_embeddings\.weight is missing"):
        open_bi_encoder(less, text_resources, pooling="mean")
    assert open_bi_encoder(
        _changed(sentence_encoder, tmp_path / "pooler", without("pooler.")), text_resources
    )


def test_weights_of_a_model_with_a_head_are_found_behind_their_prefix(
    sentence_encoder, tmp_path, text_resources
):
    def prefixed(tensors):
        return {f"bert.{name}": tensor for name, tensor in tensors.items()}

    renamed = _changed(sentence_encoder, tmp_path / "prefixed", prefixed)
    read = read_documents(text_resources, 5)
    assert open_bi_encoder(renamed, text_resources).score(QUERY, read) == pytest.approx(
        open_bi_encoder(sentence_encoder, text_resources).score(QUERY, read), abs=1e-6
    )


def test_layer_norms_may_have_the_names_of_tensorflow(sentence_encoder, tmp_path, text_resources):
    def renamed(tensors):
        return {
            name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): tensor
            for name, tensor in tensors.items()
        }

    old = _changed(sentence_encoder, tmp_path / "old", renamed)
    read = read_documents(text_resources, 5)
    assert open_bi_encoder(old, text_resources).score(QUERY, read) == pytest.approx(
        open_bi_encoder(sentence_encoder, text_resources).score(QUERY, read), abs=1e-6
    )


def test_vectors_that_are_not_finite_are_refused(sentence_encoder, tmp_path, text_resources):
    def broken(tensors):
        return {k: v * float("nan") for k, v in tensors.items()}

    model = _changed(sentence_encoder, tmp_path / "nan", broken)
    with pytest.raises(InputError, match="not finite"):
        open_bi_encoder(model, text_resources).score(QUERY, read_documents(text_resources, 5))


def test_ltr_depends_on_the_files_of_a_stacked_model(sentence_encoder, tmp_path):
    other = save_sentence_encoder(tmp_path / "other", seed=2)

    def of(features, name, model):
        settings = {name: {"settings": {"bi-encoder": {"model": str(model)}}, **features}}
        stack = ["bi-encoder"] if name == "stack" else []
        return chosen("ltr", stack=stack, settings=settings).describe_reads()

    for name, features in (("stack", {}), ("first-stage", {"retrievers": ["bi-encoder"]})):
        assert of(features, name, sentence_encoder) == of(features, name, sentence_encoder)
        assert of(features, name, sentence_encoder) != of(features, name, other)
        with pytest.raises(InputError, match="no such folder"):
            of(features, name, tmp_path / "missing")


@pytest.mark.parametrize("kind", ["CrossEncoder", "SparseEncoder", "MultiVectorEncoder"])
@pytest.mark.parametrize("system", [BiEncoder, BiEncoderSearch])
def test_models_of_other_kinds_are_refused_before_any_work(
    sentence_encoder, tmp_path, kind, system
):
    other = shutil.copytree(sentence_encoder, tmp_path / "other")
    path = other / "config_sentence_transformers.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "model_type": kind}))
    message = (
        rf"is a {kind} \(config_sentence_transformers.*'bi-encoder' needs a SentenceTransformer"
    )
    for options in (
        {"model": str(other)},
        {"model": str(sentence_encoder), "query_model": str(other)},
    ):
        with pytest.raises(InputError, match=message):
            system(system.Options(**options)).reads()


def test_parts_of_other_kinds_of_models_are_refused(sentence_encoder, tmp_path):
    other = shutil.copytree(sentence_encoder, tmp_path / "other")
    part = "sentence_transformers.sparse_encoder.modules.splade_pooling.SpladePooling"
    parts = json.loads((other / "modules.json").read_text())
    parts[1]["type"] = part
    (other / "modules.json").write_text(json.dumps(parts))
    (other / "config_sentence_transformers.json").unlink()
    with pytest.raises(InputError, match=r"is a SparseEncoder \(modules.json: SpladePooling\)"):
        BiEncoder(BiEncoderOptions(model=str(other))).reads()


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("BertForSequenceClassification", "is a CrossEncoder .*Use 'cross-encoder'"),
        ("BertForTokenClassification", r"is a BertForTokenClassification \(config\.json"),
        ("BertForQuestionAnswering", r"is a BertForQuestionAnswering \(config\.json"),
    ],
)
def test_a_transformer_that_gives_labels_makes_no_vectors(tmp_path, network, message):
    import transformers

    getattr(transformers, network)(config()).save_pretrained(tmp_path / "labels")
    tokenizer().save_pretrained(tmp_path / "labels")
    options = BiEncoderOptions(model=str(tmp_path / "labels"), pooling="mean")
    with pytest.raises(InputError, match=message):
        BiEncoder(options).reads()


def test_a_language_model_makes_vectors(tmp_path, text_resources):
    from transformers import BertForMaskedLM

    BertForMaskedLM(config()).save_pretrained(tmp_path / "language")
    tokenizer().save_pretrained(tmp_path / "language")
    assert open_bi_encoder(tmp_path / "language", text_resources, pooling="mean").score(
        QUERY, read_documents(text_resources)
    )


def test_more_tokens_than_the_model_reads_are_told(sentence_encoder, text_resources):
    assert (
        open_bi_encoder(sentence_encoder, text_resources, max_length=LONGEST).options.max_length
        == LONGEST
    )
    assert text_resources.told == []
    open_bi_encoder(sentence_encoder, text_resources, max_length=LONGEST + 1)
    notice = "The model reads 32 tokens at most, fewer than bi-encoder.max_length=33"
    assert set(text_resources.told) == {notice}


def test_a_transformer_that_cannot_be_opened_is_one_line(tmp_path, text_resources):
    broken = save_transformer(tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"\x00" * 40)
    with pytest.raises(InputError, match=r"safetensors: this is not a safetensors file"):
        open_bi_encoder(broken, text_resources, pooling="mean")


@pytest.mark.parametrize("kind", ["averaged", "counted"])
def test_models_of_words_without_a_transformer_score_as_in_sentence_transformers(
    text_resources, tmp_path, kind
):
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    from sentence_transformers import SentenceTransformer

    words = sorted({word for d in read_documents(text_resources, 9) for word in d.text.split()})
    if kind == "averaged":
        vectors = np.random.default_rng(1).normal(size=(len(words), 8)).round(3)
        lines = [
            f"{word} {' '.join(map(str, row))}" for word, row in zip(words, vectors, strict=True)
        ]
        (tmp_path / "vectors.txt").write_text("\n".join(lines))
        parts = [
            modules.WordEmbeddings.from_text_file(str(tmp_path / "vectors.txt")),
            modules.Pooling(8, "mean"),
        ]
    else:
        parts = [modules.BoW(vocab=words, word_weights={})]
    model = SentenceTransformer(modules=parts, device="cpu")
    model.save_pretrained(str(tmp_path / "model"))
    read = [d for d in read_documents(text_resources, 9) if d.text.strip()]
    query = QUERY.query, *(document.text for document in read)
    encoded = model.encode(query, normalize_embeddings=True)
    scores = open_bi_encoder(tmp_path / "model", text_resources).score(
        QUERY, read_documents(text_resources, 9)
    )
    filled = [
        s for s, d in zip(scores, read_documents(text_resources, 9), strict=True) if d.text.strip()
    ]
    assert np.allclose(filled, encoded[1:] @ encoded[0], atol=1e-5)
