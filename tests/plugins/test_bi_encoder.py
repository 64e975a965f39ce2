"""Bi-encoders: scores are the model's, each document is encoded once, and what is done stays."""

import errno
import json
import os
import shutil
import threading
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pretrained_models import (
    LONGEST,
    WORDS,
    config,
    save_sentence_encoder,
    save_transformer,
    texts,
    tokenizer,
)
from small import chosen, small_resources

from irplatform.errors import InputError
from irplatform.plugin import Document, Documents, Topic
from irplatform.system.arithmetic import SETTINGS
from irplatform_encoders.biencoder import BiEncoder, BiEncoderSearch, VectorStore
from irplatform_encoders.biencoder_model import Encoder
from irplatform_encoders.options import BiEncoderOptions, BiEncoderSearchOptions

QUERY = Topic("t", "w3 w4 w5")
OTHER = Topic("u", "w9 w30 w41 w7")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_sentence_encoder(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture(scope="module")
def bare(folder):
    return folder.with_name("model-bare")


@pytest.fixture
def resources(tmp_path):
    held = {f"d{n}": text for n, text in enumerate(texts(1, 120))}
    return small_resources(tmp_path / "forward", held, {word: np.ones(2) for word in WORDS})


def _opened(folder, resources, **options):
    reranker = BiEncoder(BiEncoderOptions(model=str(folder), **options))
    reranker.prepare(resources)
    return reranker


def _read(resources, count=None):
    return resources.documents(list(resources.texts)[:count])


def _hidden(bare, text):
    """The last layer's vectors of a text's words, and the model's own library's."""
    from transformers import AutoModel, AutoTokenizer

    inputs = AutoTokenizer.from_pretrained(bare)(
        text, truncation=True, max_length=LONGEST, return_tensors="pt"
    )
    with torch.inference_mode():
        return AutoModel.from_pretrained(bare).eval()(**inputs).last_hidden_state[0].numpy()


def _cosine(one, other):
    return one @ other / np.linalg.norm(one) / np.linalg.norm(other)


def test_scores_are_cosines_of_means_of_the_transformer_s_vectors(folder, bare, resources):
    query = _hidden(bare, QUERY.query).mean(axis=0)
    read = _read(resources, 20)
    expected = [_cosine(query, _hidden(bare, d.text).mean(axis=0)) * bool(d.text) for d in read]
    scores = _opened(folder, resources, batch_size=3).score(QUERY, read)
    assert np.std(scores) > 1e-3
    assert np.allclose(scores, expected, atol=1e-5)


def test_a_bare_transformer_is_told_how_to_pool(bare, resources):
    with pytest.raises(InputError, match=r"pooling=mean or cls"):
        _opened(bare, resources)
    query = _hidden(bare, QUERY.query)[0]
    read = _read(resources, 20)
    expected = [query @ _hidden(bare, d.text)[0] * bool(d.text) for d in read]
    scores = _opened(bare, resources, pooling="cls", similarity="dot").score(QUERY, read)
    assert np.allclose(scores, expected, atol=1e-4)


def test_pooling_that_the_model_says_itself_is_not_said_again(folder, resources):
    with pytest.raises(InputError, match=r"take bi-encoder\.pooling out"):
        _opened(folder, resources, pooling="mean")


@pytest.mark.parametrize("system", [BiEncoder, BiEncoderSearch])
def test_pooling_is_settled_before_any_work(folder, bare, system):
    wrong = {"model": str(bare)}, {"model": str(folder), "pooling": "mean"}
    wrong += ({"model": str(folder), "query_model": str(bare)},)
    for options in wrong:
        with pytest.raises(InputError, match=r"bi-encoder\.pooling"):
            system(system.Options(**options)).reads()


def test_prompts_are_put_before_texts(folder, resources, tmp_path):
    plain = _opened(folder, resources)
    asked = Topic("t", f"w50 {QUERY.query}")
    read = _read(resources, 20)
    prompted = _opened(folder, resources, query_prompt="w50 ")
    assert np.allclose(prompted.score(QUERY, read), plain.score(asked, read), atol=1e-5)
    own = save_sentence_encoder(tmp_path / "own", prompts={"query": "w50 ", "document": "w51 "})
    document = _opened(folder, resources, query_prompt="w50 ", document_prompt="w51 ")
    expected = document.score(QUERY, read)
    assert not np.allclose(expected, prompted.score(QUERY, read), atol=1e-3)
    assert np.allclose(_opened(own, resources).score(QUERY, read), expected, atol=1e-5)


def test_queries_can_have_a_model_of_their_own(folder, resources, tmp_path):
    other = save_sentence_encoder(tmp_path / "other", seed=2)
    read = _read(resources, 20)
    both = _opened(folder, resources, query_model=str(other))
    query = Encoder(BiEncoderOptions(model=str(other)), "cpu").queries([QUERY.query])[0]
    vectors = Encoder(BiEncoderOptions(model=str(folder)), "cpu").documents([d.text for d in read])
    assert np.allclose(both.score(QUERY, read), vectors @ query, atol=1e-5)
    narrow = save_sentence_encoder(tmp_path / "narrow", width=8)
    with pytest.raises(InputError, match=r"have 8 numbers, those of documents 16"):
        _opened(folder, resources, query_model=str(narrow))


def test_distances_that_cannot_be_searched_for_are_refused(resources, tmp_path):
    far = save_sentence_encoder(tmp_path / "far", similarity_fn_name="euclidean")
    with pytest.raises(InputError, match="compared by euclidean distance"):
        _opened(far, resources)
    assert _opened(far, resources, similarity="cosine").score(QUERY, _read(resources, 3))


def test_texts_are_cut_to_the_length_that_is_asked_for(folder, resources):
    short = _opened(folder, resources, max_length=9)  # seven words between two marks
    cut = Encoder(BiEncoderOptions(model=str(folder)), "cpu")
    read = [d for d in _read(resources) if len(d.text.split()) > 12][:5]
    vectors = cut.documents([" ".join(d.text.split()[:7]) for d in read])
    expected = vectors @ cut.queries([QUERY.query])[0]
    assert np.allclose(short.score(QUERY, Documents.of(read)), expected, atol=1e-5)


def test_scores_do_not_depend_on_order_company_or_batches(folder, resources):
    read = list(_read(resources))
    together = np.array(_opened(folder, resources).score(QUERY, Documents.of(read)))
    order = np.random.default_rng(0).permutation(len(read))
    other = _small_again(resources)
    reranker = _opened(folder, other, batch_size=2)
    shuffled = reranker.score(QUERY, Documents.of([read[i] for i in order]))
    assert np.allclose(shuffled, together[order], atol=1e-5)
    several = reranker.score_batch(
        [(OTHER, Documents.of(read[:5])), (QUERY, Documents.of([])), (QUERY, Documents.of(read))]
    )
    assert [len(scores) for scores in several] == [5, 0, len(read)]
    assert np.allclose(several[2], together, atol=1e-5)


def test_threads_change_no_vector(folder):
    read = [*texts(1, 40), "", *texts(3, 9)]
    alone, together = (Encoder(BiEncoderOptions(model=str(folder)), "cpu", n) for n in (1, 3))
    for _ in range(2):
        assert np.array_equal(together.documents(read), alone.documents(read))
    assert np.array_equal(together.queries(read[:5]), alone.queries(read[:5]))
    assert together.documents([""]).tolist() == [[0.0] * together.width]


def test_in_portable_arithmetic_company_changes_no_vector(folder, monkeypatch):
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    encoder = Encoder(BiEncoderOptions(model=str(folder)), "cpu")
    read = [*texts(1, 40), "", "w1 w2", "w3 w4"]
    alone = np.concatenate([encoder.documents([text]) for text in read])
    assert np.array_equal(encoder.documents(read), alone)


def test_texts_are_encoded_at_the_same_time_by_copies_of_the_same_weights(folder, monkeypatch):
    from sentence_transformers import SentenceTransformer

    encoder = Encoder(BiEncoderOptions(model=str(folder)), "cpu", 3)
    met, encode = threading.Barrier(3, timeout=30), SentenceTransformer.encode_document
    models = {}

    def waiting(self, *arguments, **options):
        models[id(self)] = self
        met.wait()
        return encode(self, *arguments, **options)

    monkeypatch.setattr(SentenceTransformer, "encode_document", waiting)
    monkeypatch.setattr("irplatform_encoders.batches._ON_CPU", 1)  # a text in each batch
    encoder.documents(texts(1, 3))
    assert len(models) == 3
    tokenizers = {id(model[0].tokenizer) for model in models.values()}
    weights = {next(model.parameters()).data_ptr() for model in models.values()}
    assert (len(tokenizers), len(weights)) == (3, 1)


def _small_again(resources):
    """The same documents with an empty cache."""
    return small_resources(
        resources.folder.with_name("again") / "forward",
        resources.texts,
        {word: np.ones(2) for word in WORDS},
    )


def test_shorter_numbers_give_nearly_the_same(folder, resources, monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)  # native arithmetic
    read = _read(resources, 20)
    exact = _opened(folder, resources).score(QUERY, read)
    short = _opened(folder, resources, precision="bfloat16").score(QUERY, read)
    assert not np.array_equal(exact, short)
    assert np.allclose(exact, short, atol=0.05)


def test_portable_arithmetic_has_no_shorter_numbers_on_the_cpu(folder, resources, monkeypatch):
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    one, other = (_opened(folder, resources, precision=name) for name in ("float32", "bfloat16"))
    read = _read(resources, 20)
    assert one.score(QUERY, read) == other.score(QUERY, read)
    assert resources.built.count("bi-encoder") == 1


def test_a_document_is_encoded_once(folder, resources, monkeypatch):
    encoded = []
    documents_of = Encoder.documents

    def counted(self, read):
        encoded.extend(read)
        return documents_of(self, read)

    monkeypatch.setattr(Encoder, "documents", counted)
    first = _opened(folder, resources)
    scores = first.score_batch([(QUERY, _read(resources, 30)), (OTHER, _read(resources, 40))])
    assert len(encoded) == 40
    again = _opened(folder, resources)
    assert again.score(QUERY, _read(resources, 30)) == scores[0]
    assert len(encoded) == 40
    again.score(QUERY, _read(resources))
    assert len(encoded) == 120


def _store(resources, encode):
    encoder = SimpleNamespace(identity={"model": 1}, documents=encode, width=2, notes=())
    return VectorStore(resources, encoder)


def _lengths(read):
    return np.array([[len(text), 1] for text in read], np.float32)


@given(bit=st.integers(0, 120 * 2 * 4 * 8 - 1))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_vector_is_made_again(resources, bit):
    ids = list(resources.texts)
    store = _store(resources, _lengths)
    expected = store.of(ids)
    path = store._folder / "vectors.float32"
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    resources.told.clear()
    assert np.array_equal(_store(resources, _lengths).of(ids), expected)
    assert resources.told == ["1 vectors of documents are damaged, and made again"]
    assert np.array_equal(np.fromfile(path, np.float32).reshape(-1, 2), expected)


def test_what_was_encoded_before_an_interruption_stays(resources, monkeypatch):
    monkeypatch.setattr("irplatform_encoders.biencoder._BLOCK", 16)
    calls = []

    def interrupted(read):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(len(read))
        return _lengths(read)

    ids = list(resources.texts)
    with pytest.raises(KeyboardInterrupt):
        _store(resources, interrupted).of(ids)
    rest = []

    def counted(read):
        rest.extend(read)
        return _lengths(read)

    found = _store(resources, counted).of(ids)
    assert len(rest) == len(ids) - 3 * 16
    assert np.array_equal(found, _lengths([resources.documents([i])[0].text for i in ids]))


def test_progress_counts_the_documents_that_are_encoded(resources, monkeypatch):
    monkeypatch.setattr("irplatform_encoders.biencoder._BLOCK", 16)
    ids = list(resources.texts)[:40]
    store = _store(resources, _lengths)
    store.of(ids[:4])
    told = []
    monkeypatch.setattr(
        resources,
        "progress",
        lambda label, total, unit: told.append(total) or nullcontext(told.append),
    )
    store.of(ids)
    store.of(ids)
    assert told == [36, 16, 16, 4], "once they are there, nothing is encoded"


def _refusing(monkeypatch, code):
    def refuse(path, flags):
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr("irplatform_encoders.biencoder.os.open", refuse)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_cache_that_cannot_be_written_to_is_read(resources, monkeypatch, code):
    ids = list(resources.texts)
    _store(resources, _lengths).of(ids[:50])
    _refusing(monkeypatch, code)
    asked = []

    def counted(read):
        asked.extend(read)
        return _lengths(read)

    store = _store(resources, counted)
    for _ in range(2):
        assert np.array_equal(store.of(ids), _lengths(list(resources.texts.values())))
    assert len(asked) == 2 * (len(ids) - 50)


def test_a_full_disk_is_an_error(resources, monkeypatch):
    store = _store(resources, _lengths)
    _refusing(monkeypatch, errno.ENOSPC)
    with pytest.raises(OSError, match="No space"):
        store.of(list(resources.texts))


def test_half_a_vector_on_a_full_disk_is_none(resources, monkeypatch):
    ids, whole = list(resources.texts), os.pwrite

    def half(file, value, place):
        return whole(file, value[: max(1, len(value) // 2)], place)

    monkeypatch.setattr("irplatform_encoders.biencoder.os.pwrite", half)
    with pytest.raises(OSError, match="No space"):
        _store(resources, _lengths).of(ids)
    monkeypatch.undo()
    assert np.array_equal(
        _store(resources, _lengths).of(ids), _lengths(list(resources.texts.values()))
    )


def test_vectors_that_another_process_adds_meanwhile_are_whole(resources):
    ids = list(resources.texts)
    store = _store(resources, _lengths)
    rows = resources.index.rows(ids)

    class AddedOnceAskedFor:
        """What is present, told just before another process adds the rest."""

        def __getitem__(self, chosen):
            before = np.array(present[chosen])
            _store(resources, _lengths).rows(rows)
            return before

    present, store._present = store._present, AddedOnceAskedFor()
    assert np.array_equal(store.rows(rows), _lengths(list(resources.texts.values())))


@pytest.mark.parametrize("index", ["exact", "ivf"])
def test_the_retriever_finds_what_the_reranker_prefers(folder, resources, index):
    retriever = BiEncoderSearch(BiEncoderSearchOptions(model=str(folder), index=index, probes=1000))
    run = retriever.retrieve([QUERY, OTHER], 10, resources)
    read = _read(resources)
    for topic in (QUERY, OTHER):
        scores = _opened(folder, resources).score(topic, read)
        expected = sorted(zip(scores, read.ids, strict=True), reverse=True)[:10]
        found = run.rankings[topic.id]
        assert np.allclose(sorted(found.scores, reverse=True), [s for s, _ in expected], atol=2e-3)
        if index == "exact":
            assert set(found.doc_ids) == {doc_id for _, doc_id in expected}


def test_depth_beyond_the_collection_finds_all(folder, resources):
    run = BiEncoderSearch(BiEncoderSearchOptions(model=str(folder))).retrieve(
        [QUERY], 500, resources
    )
    assert len(run.rankings[QUERY.id].doc_ids) == 120


def test_an_explanation_names_the_nearest_sentences(folder, resources):
    said = ["W1 w2 w3.", "W40 w41.", "W3 w4 w5.", "W9 w10.", "W50."]
    document = Document("d0", "w4 w5", " ".join(said))
    reranker = _opened(folder, resources)
    (told,) = reranker.explain(QUERY, Documents.of([document]))
    assert told["score"] == reranker.score(QUERY, Documents.of([document]))[0]
    encoder = Encoder(BiEncoderOptions(model=str(folder)), "cpu")
    alone = encoder.documents(["w4 w5", *said]) @ encoder.queries([QUERY.query])[0]
    expected = sorted(zip(alone.tolist(), ["w4 w5", *said], strict=True), reverse=True)[:3]
    assert [each["sentence"] for each in told["sentences"]] == [text for _, text in expected]
    assert [each["score"] for each in told["sentences"]] == pytest.approx(
        [score for score, _ in expected], abs=1e-5
    )


def test_the_retriever_opens_model_and_index_once(folder, resources, monkeypatch):
    made = []
    monkeypatch.setattr(
        "irplatform_encoders.biencoder_model.Encoder",
        lambda *arguments: made.append(1) or Encoder(*arguments),
    )
    retriever = BiEncoderSearch(BiEncoderSearchOptions(model=str(folder)))
    together = retriever.retrieve([QUERY, OTHER], 5, resources).rankings
    for topic in (QUERY, OTHER):
        alone = retriever.retrieve([topic], 5, resources).rankings[topic.id]
        assert alone.doc_ids == together[topic.id].doc_ids
    assert len(made) == 1


def test_scores_depend_on_the_model_s_files(folder, tmp_path):
    other = save_sentence_encoder(tmp_path / "other", seed=2)
    before = BiEncoder(BiEncoderOptions(model=str(folder))).reads().more
    assert before != BiEncoder(BiEncoderOptions(model=str(other))).reads().more
    assert (
        before
        != BiEncoder(BiEncoderOptions(model=str(folder), query_model=str(other))).reads().more
    )
    assert before == BiEncoderSearch(BiEncoderSearchOptions(model=str(folder))).reads().more


def test_vectors_do_not_depend_on_how_queries_are_read(folder, tmp_path):
    other = save_sentence_encoder(tmp_path / "other", seed=2)

    def of(**options):
        return Encoder(BiEncoderOptions(model=str(folder), **options), "cpu").identity

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


def test_a_model_that_weights_are_missing_of_is_refused(folder, bare, tmp_path, resources):
    def without(name):
        return lambda tensors: {k: v for k, v in tensors.items() if not k.startswith(name)}

    less = _changed(folder, tmp_path / "less", without("encoder.layer.1."))
    with pytest.raises(InputError, match=r"encoder\.layer\.1\..* is missing, and 15 more"):
        _opened(less, resources)
    less = _changed(bare, tmp_path / "bare", without("embeddings.word"))
    with pytest.raises(InputError, match=r"word_embeddings\.weight is missing"):
        _opened(less, resources, pooling="mean")
    assert _opened(_changed(folder, tmp_path / "pooler", without("pooler.")), resources)


def test_weights_of_a_model_with_a_head_are_found_behind_their_prefix(folder, tmp_path, resources):
    def prefixed(tensors):
        return {f"bert.{name}": tensor for name, tensor in tensors.items()}

    renamed = _changed(folder, tmp_path / "prefixed", prefixed)
    read = _read(resources, 5)
    assert _opened(renamed, resources).score(QUERY, read) == pytest.approx(
        _opened(folder, resources).score(QUERY, read), abs=1e-6
    )


def test_layer_norms_may_have_the_names_of_tensorflow(folder, tmp_path, resources):
    def renamed(tensors):
        return {
            name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): tensor
            for name, tensor in tensors.items()
        }

    old = _changed(folder, tmp_path / "old", renamed)
    read = _read(resources, 5)
    assert _opened(old, resources).score(QUERY, read) == pytest.approx(
        _opened(folder, resources).score(QUERY, read), abs=1e-6
    )


def test_vectors_that_are_not_finite_are_refused(folder, tmp_path, resources):
    def broken(tensors):
        return {k: v * float("nan") for k, v in tensors.items()}

    model = _changed(folder, tmp_path / "nan", broken)
    with pytest.raises(InputError, match="not finite"):
        _opened(model, resources).score(QUERY, _read(resources, 5))


def test_ltr_depends_on_the_files_of_a_stacked_model(folder, tmp_path):
    other = save_sentence_encoder(tmp_path / "other", seed=2)

    def of(features, name, model):
        settings = {name: {"settings": {"bi-encoder": {"model": str(model)}}, **features}}
        stack = ["bi-encoder"] if name == "stack" else []
        return chosen("ltr", stack=stack, settings=settings).dependencies()

    for name, features in (("stack", {}), ("first-stage", {"retrievers": ["bi-encoder"]})):
        assert of(features, name, folder) == of(features, name, folder)
        assert of(features, name, folder) != of(features, name, other)
        with pytest.raises(InputError, match="no such folder"):
            of(features, name, tmp_path / "missing")


@pytest.mark.parametrize("kind", ["CrossEncoder", "SparseEncoder", "MultiVectorEncoder"])
@pytest.mark.parametrize("system", [BiEncoder, BiEncoderSearch])
def test_models_of_other_kinds_are_refused_before_any_work(folder, tmp_path, kind, system):
    other = shutil.copytree(folder, tmp_path / "other")
    path = other / "config_sentence_transformers.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "model_type": kind}))
    told = rf"is a {kind} \(config_sentence_transformers.*'bi-encoder' needs a SentenceTransformer"
    for options in ({"model": str(other)}, {"model": str(folder), "query_model": str(other)}):
        with pytest.raises(InputError, match=told):
            system(system.Options(**options)).reads()


def test_parts_of_other_kinds_of_models_are_refused(folder, tmp_path):
    other = shutil.copytree(folder, tmp_path / "other")
    part = "sentence_transformers.sparse_encoder.modules.splade_pooling.SpladePooling"
    parts = json.loads((other / "modules.json").read_text())
    parts[1]["type"] = part
    (other / "modules.json").write_text(json.dumps(parts))
    (other / "config_sentence_transformers.json").unlink()
    with pytest.raises(InputError, match=r"is a SparseEncoder \(modules.json: SpladePooling\)"):
        BiEncoder(BiEncoderOptions(model=str(other))).reads()


@pytest.mark.parametrize(
    ("network", "told"),
    [
        ("BertForSequenceClassification", "is a CrossEncoder .*Use 'cross-encoder'"),
        ("BertForTokenClassification", r"is a BertForTokenClassification \(config\.json"),
        ("BertForQuestionAnswering", r"is a BertForQuestionAnswering \(config\.json"),
    ],
)
def test_a_transformer_that_gives_labels_makes_no_vectors(tmp_path, network, told):
    import transformers

    getattr(transformers, network)(config()).save_pretrained(tmp_path / "labels")
    tokenizer().save_pretrained(tmp_path / "labels")
    options = BiEncoderOptions(model=str(tmp_path / "labels"), pooling="mean")
    with pytest.raises(InputError, match=told):
        BiEncoder(options).reads()


def test_a_language_model_makes_vectors(tmp_path, resources):
    from transformers import BertForMaskedLM

    BertForMaskedLM(config()).save_pretrained(tmp_path / "language")
    tokenizer().save_pretrained(tmp_path / "language")
    assert _opened(tmp_path / "language", resources, pooling="mean").score(QUERY, _read(resources))


def test_more_tokens_than_the_model_reads_are_told(folder, resources):
    assert _opened(folder, resources, max_length=LONGEST).options.max_length == LONGEST
    assert resources.told == []
    _opened(folder, resources, max_length=LONGEST + 1)
    told = "The model reads 32 tokens at most, fewer than bi-encoder.max_length=33"
    assert set(resources.told) == {told}


def test_a_transformer_that_cannot_be_opened_is_one_line(tmp_path, resources):
    broken = save_transformer(tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"\x00" * 40)
    with pytest.raises(InputError, match=r"safetensors: this is not a safetensors file"):
        _opened(broken, resources, pooling="mean")


def test_documents_and_queries_without_text_have_score_0(folder, tmp_path):
    held = {"full": "w1 w2", "empty": "", "blank": " "}
    resources = small_resources(tmp_path / "forward", held, {word: np.ones(2) for word in WORDS})
    scores = _opened(folder, resources).score(QUERY, _read(resources))
    assert scores[0] != 0
    assert scores[1:] == [0, 0]
    assert _opened(folder, resources).score(Topic("t", " "), _read(resources)) == [0, 0, 0]
    run = BiEncoderSearch(BiEncoderSearchOptions(model=str(folder))).retrieve(
        [QUERY, Topic("u", "")], 3, resources
    )
    assert [len(run.rankings[topic].doc_ids) for topic in ("t", "u")] == [3, 0]
