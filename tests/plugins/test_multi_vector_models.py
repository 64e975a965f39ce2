"""Models of late interaction have the vectors of sentence-transformers, or are refused."""

import json
import shutil
import threading

import numpy as np
import pytest
import torch
from multi_vector_models import (
    KINDS,
    LENGTH,
    library_is_too_old,
    of_the_library,
    save_bare,
    save_multi_vector,
    save_pylate,
    save_stanford,
)
from pretrained_models import LONGEST, WORDS, texts
from safetensors.torch import load_file, save_file

from irplatform.errors import InputError
from irplatform.system.arithmetic import SETTINGS
from irplatform_encoders.biencoder import BiEncoder
from irplatform_encoders.multi_vector.model import TokenEncoder, depends_on
from irplatform_encoders.multi_vector.options import MultiVectorOptions
from irplatform_encoders.multi_vector.reranker import MultiVector
from irplatform_encoders.options import BiEncoderOptions

needs_the_library = pytest.mark.skipif(
    library_is_too_old(), reason="sentence-transformers has multi-vector models since 6.0"
)
SHORT = ["w3", "w4 w5", "w9 w30 w7 w41 w7"]
DOCUMENTS = [*texts(1, 30), "w1 w2", "w7 w7"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A folder with a model of a kind, saved once."""
    folder, saved = tmp_path_factory.mktemp("models"), {}

    def of(kind):
        if kind not in saved:
            saved[kind] = KINDS[kind](folder / kind.replace(" ", "-"))
        return saved[kind]

    return of


def _encoder(folder, **options):
    return TokenEncoder(MultiVectorOptions(model=str(folder), **options), "cpu")


def _agree(vectors, expected):
    assert len(vectors) == len(expected)
    for vector, other in zip(vectors, expected, strict=True):
        assert vector.shape == other.shape
        assert np.allclose(vector, other, atol=1e-5)


@needs_the_library
@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_sentence_transformers(model, kind):
    encoder, library = _encoder(model(kind), long="cut"), of_the_library(model(kind))
    filled = [text for text in DOCUMENTS if text]
    documents = [parts[0] for parts in encoder.documents(filled)]
    _agree(documents, library.encode_document(filled, convert_to_numpy=True))
    queries = [*SHORT, *filled[:5]]
    _agree(encoder.queries(queries), library.encode_query(queries, convert_to_numpy=True))
    assert encoder.mean == (library.similarity_fn_name == "meanmaxsim")
    assert np.std(np.concatenate(documents)) > 0.1


@needs_the_library
@pytest.mark.parametrize("kind", ["expanded", "floor", "plain", "pooled", "ModernBERT", "PyLate"])
def test_in_portable_arithmetic_vectors_do_not_depend_on_other_texts(model, kind, monkeypatch):
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    encoder = _encoder(model(kind))
    together = encoder.documents(DOCUMENTS)
    for text, parts in zip(DOCUMENTS, together, strict=True):
        (alone,) = encoder.documents([text])
        assert len(parts) == len(alone)
        assert all(map(np.array_equal, parts, alone))
    queries = [*SHORT, *DOCUMENTS[:5], ""]
    for text, vectors in zip(queries, encoder.queries(queries), strict=True):
        assert np.array_equal(encoder.queries([text])[0], vectors)


@needs_the_library
def test_threads_change_no_vector(model, monkeypatch):
    options = MultiVectorOptions(model=str(model("expanded")))
    alone, together = TokenEncoder(options, "cpu"), TokenEncoder(options, "cpu", 3)
    expected = alone.documents(DOCUMENTS)
    passes, reader = threading.Barrier(3, timeout=30), together._masked

    def waiting(*arguments):
        passes.wait()
        return reader(*arguments)

    monkeypatch.setattr("irplatform_encoders.batches._ON_CPU", 1)  # a text in each batch
    monkeypatch.setattr(together, "_masked", waiting)
    read = ["w1 w2", "w3", "w4 w5 w6"]
    for parts, others in zip(together.documents(read), alone.documents(read), strict=True):
        assert all(map(np.array_equal, parts, others))
    monkeypatch.setattr(together, "_masked", reader)
    for parts, others in zip(together.documents(DOCUMENTS), expected, strict=True):
        assert all(map(np.allclose, parts, others))


@needs_the_library
def test_texts_without_words_have_no_vectors(model):
    encoder = _encoder(model("expanded"))
    assert encoder.documents(["", " \n", "w1"])[:2] == [[], []]
    assert [len(vectors) for vectors in encoder.queries(["", "w1"])] == [0, LENGTH]
    assert encoder.documents([]) == encoder.queries([]) == []


@needs_the_library
def test_long_documents_are_read_in_parts_that_the_model_reads_whole(model):
    encoder = _encoder(model("expanded"), max_length=12)
    text = "W1 w2 w3 w4. W9 w10 w11 w12. W20 w21 w22 w23."
    (parts,) = encoder.documents([text])
    assert encoder.split([text]) == [["W1 w2 w3 w4.", "W9 w10 w11 w12.", "W20 w21 w22 w23."]]
    for part, sentence in zip(parts, encoder.split([text])[0], strict=True):
        (alone,) = encoder.documents([sentence])[0]
        assert np.array_equal(part, alone)
    (cut,) = _encoder(model("expanded"), max_length=12, long="cut").documents([text])
    assert len(cut) == 1


@needs_the_library
def test_a_text_is_not_split_where_the_model_reads_it_whole(model):
    encoder = _encoder(model("expanded"))
    fits = " ".join(["w1"] * (LONGEST - 3))  # between [CLS], the prompt and [SEP]
    assert [len(parts) for parts in encoder.split([fits, f"{fits} w1"])] == [1, 2]
    chatting = _encoder(model("chat template"))
    fits = " ".join(["w1"] * (LONGEST - 2))  # between the words of the template
    assert [len(parts) for parts in chatting.split([fits, f"{fits} w1"])] == [1, 2]


@needs_the_library
def test_lengths_can_be_set(model, tmp_path):
    query = " ".join(WORDS[:14])
    for kind, expected in (("expanded", 20), ("plain", 17), ("floor", 17)):
        encoder = _encoder(model(kind), query_length=20)
        assert [len(vectors) for vectors in encoder.queries([query])] == [expected]
        library = of_the_library(model(kind))
        if kind == "expanded":
            library[0].query_expansion = {**library[0].query_expansion, "length": 20}
        else:
            library[0].query_length = 20
        _agree(encoder.queries([query]), library.encode_query([query], convert_to_numpy=True))
    long = _encoder(model("expanded"), query_length=100, max_length=90)
    assert (long.longest, long.longest_query) == (LONGEST, LONGEST)
    assert long.notes == [
        "The model reads 32 tokens at most, fewer than multi-vector.max_length=90",
        "The model reads 32 tokens at most, fewer than multi-vector.query_length=100",
    ]


@needs_the_library
def test_queries_that_are_cut_are_known(model):
    for kind in ("expanded", "plain"):
        encoder = _encoder(model(kind))
        fits = " ".join(WORDS[: encoder.longest_query - 3])
        assert not encoder.cuts([fits, "w1"])
        assert encoder.cuts(["w1", f"{fits} w1"])


@needs_the_library
def test_prompts_can_be_set(model):
    plain, prompted = model("without prompts"), model("expanded")
    encoder, set_ = (
        _encoder(prompted),
        _encoder(plain, query_prompt="w50 ", document_prompt="w51 "),
    )
    for method in ("queries", "documents"):
        for one, other in zip(
            getattr(encoder, method)(SHORT), getattr(set_, method)(SHORT), strict=True
        ):
            assert np.allclose(one, other, atol=1e-6)
    assert _encoder(plain).identity["model"] != encoder.identity["model"]
    assert _encoder(plain).identity != set_.identity


@needs_the_library
def test_shorter_numbers_give_nearly_the_same(model, monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)  # native arithmetic
    exact, short = (
        np.concatenate(_encoder(model("bfloat16"), precision=numbers).queries(SHORT))
        for numbers in ("float32", "bfloat16")
    )
    assert not np.array_equal(exact, short)
    assert np.allclose(exact, short, atol=0.1)


def _settings(folder, **changed):
    path = folder / "config_sentence_transformers.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    return folder


def _refused(folder, message, **options):
    with pytest.raises(InputError, match=message):
        MultiVector(MultiVectorOptions(model=str(folder), **options)).reads()


def test_models_of_other_kinds_are_refused_before_any_work(tmp_path, sentence_encoder):
    _refused(sentence_encoder, "is a SentenceTransformer .*Use 'bi-encoder'")
    other = shutil.copytree(sentence_encoder, tmp_path / "sparse")
    _refused(_settings(other, model_type="SparseEncoder"), "Use 'sparse-encoder'")
    _refused(save_bare(tmp_path / "bare"), "no model of late interaction: .*Stanford's ColBERT")
    images = save_bare(tmp_path / "images")
    config = json.loads((images / "config.json").read_text())
    (images / "config.json").write_text(
        json.dumps({**config, "architectures": ["ColPaliForRetrieval"]})
    )
    _refused(images, "is a ColPaliForRetrieval")


@pytest.mark.parametrize("save", [save_pylate, save_stanford])
def test_pickled_weights_are_refused(tmp_path, save):
    folder = save(tmp_path / "model")
    part = folder / "1_Dense" if save is save_pylate else folder
    (part / "model.safetensors").rename(part / "pytorch_model.bin")
    _refused(folder, "Pickled ones")


def test_the_bi_encoder_says_who_takes_such_models(tmp_path):
    message = "MultiVectorEncoder .*'bi-encoder' needs a SentenceTransformer.*Use 'multi-vector'"
    models = (
        save_pylate(tmp_path / "new"),
        save_pylate(tmp_path / "old", model_type=None),
        save_stanford(tmp_path / "stanford"),
    )
    for folder in models:
        with pytest.raises(InputError, match=message):
            BiEncoder(BiEncoderOptions(model=str(folder))).reads()


def test_an_old_library_is_told_which_is_needed(tmp_path, monkeypatch):
    folder = save_pylate(tmp_path / "model")
    monkeypatch.setattr(
        "irplatform_encoders.multi_vector.model.metadata.version", lambda _: "5.7.0"
    )
    _refused(folder, "needs sentence-transformers 6.0.0 or newer; 5.7.0 is installed")


def _without(folder, name, path="model.safetensors"):
    weights = load_file(folder / path)
    del weights[name]
    save_file(weights, folder / path, {"format": "pt"})
    return folder


@needs_the_library
def test_models_that_weights_are_missing_of_are_refused(tmp_path, model):
    copies = [shutil.copytree(model("expanded"), tmp_path / str(n)) for n in range(3)]
    layer = "encoder.layer.0.output.dense.weight"
    (copies[1] / "1_Dense" / "model.safetensors").unlink()
    broken = [
        (_without(copies[0], layer), "missing"),
        (copies[1], "cannot be opened as a model of late interaction"),
        (_without(copies[2], "linear.weight", "1_Dense/model.safetensors"), "cannot be opened"),
        (_without(save_stanford(tmp_path / "s"), "linear.weight"), "cannot be opened"),
    ]
    for folder, message in broken:
        with pytest.raises(InputError, match=message):
            _encoder(folder)


@needs_the_library
def test_vectors_that_are_not_finite_are_refused(tmp_path, model):
    broken = shutil.copytree(model("not normalized"), tmp_path / "broken")
    path = broken / "1_Dense" / "model.safetensors"
    save_file({"linear.weight": load_file(path)["linear.weight"] * torch.nan}, path)
    with pytest.raises(InputError, match="not finite"):
        _encoder(broken)


@needs_the_library
def test_a_model_without_room_for_words_is_refused(tmp_path):
    prompts = {"document": " ".join(WORDS[:20]) + " "}
    folder = save_multi_vector(tmp_path / "model", prompts=prompts)
    with pytest.raises(InputError, match="reads 12 tokens of a document, and 22 of them come"):
        _encoder(folder, max_length=12)


@needs_the_library
def test_a_model_with_two_transformers_is_refused(tmp_path, model):
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Router

    library = of_the_library(model("expanded"))
    sides = Router.for_query_document([library[0]], [library[0]])
    encoder = MultiVectorEncoder(modules=[sides, *list(library)[1:]], device="cpu")
    encoder.save_pretrained(str(tmp_path / "sides"))
    with pytest.raises(InputError, match="begins with Router"):
        _encoder(tmp_path / "sides")


@needs_the_library
def test_scores_depend_on_the_model_s_files(tmp_path):
    one = save_stanford(tmp_path / "one")
    other = save_stanford(tmp_path / "other", query_maxlen=9)
    digests = [depends_on(MultiVectorOptions(model=str(folder))) for folder in (one, other)]
    assert digests[0]["artifact.metadata"] != digests[1]["artifact.metadata"]
