"""Cross-encoders that sentence-transformers saved score as it scores them."""

import shutil
from importlib import metadata

import numpy as np
import pytest
import torch
from cross_encoders import QUERY, open_cross_encoder, rewrite
from packaging.version import Version
from pretrained_models import LONGEST, WORDS, documents, save_transformer, tokenizer
from safetensors import safe_open
from safetensors.torch import save_file
from small import SmallResources

from irplatform.errors import InputError
from irplatform.plugin import Document, Documents, Topic
from irplatform_encoders.crossencoder_reranker import CrossEncoder
from irplatform_encoders.options import CrossEncoderOptions

saved_by_modules = pytest.mark.skipif(
    Version(metadata.version("sentence-transformers")) < Version("5.7"),
    reason="sentence-transformers runs the modules of cross-encoders since 5.7",
)
PROMPT = "w50 w51 w52 "
TEMPLATE = (
    "{% for m in messages %}[CLS] {{ m['role'] }} {{ m['content'] }} [SEP] {% endfor %}w58 w59"
)
WORDS_OF_ROLES = ("query", "document", "system", "yes", "no", *WORDS)


def _save_decoder(folder, template=TEMPLATE, words=WORDS_OF_ROLES, *, answers=False, **changed):
    """A generative model that classifies, or answers, with a chat template."""
    from transformers import Qwen3Config, Qwen3ForCausalLM, Qwen3ForSequenceClassification

    reader = tokenizer(words)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "intermediate_size": 32, "head_dim": 8}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "initializer_range": 0.8}
    torch.manual_seed(5)
    config = Qwen3Config(
        **sizes,
        **heads,
        vocab_size=len(reader),
        max_position_embeddings=LONGEST,
        num_labels=1,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,
        **changed,
    )
    (Qwen3ForCausalLM if answers else Qwen3ForSequenceClassification)(config).save_pretrained(
        folder
    )
    reader.chat_template = template
    reader.save_pretrained(folder)
    return folder


def _save_with_library(folder, bare, **changed):
    """The same as `CrossEncoder` of sentence-transformers saves it."""
    from sentence_transformers import CrossEncoder as Library

    Library(str(bare), device="cpu", **changed).save_pretrained(str(folder))
    return folder


def _library(folder, query, read):
    """The logits of sentence-transformers' own class for the same folder."""
    from sentence_transformers import CrossEncoder as Library

    pairs = [(query, document.text) for document in read]
    identity = torch.nn.Identity()
    return Library(str(folder), device="cpu").predict(pairs, activation_fn=identity)


PROMPTED = {"prompts": {"own": PROMPT, "other": "w1 "}, "default_prompt_name": "own"}


@saved_by_modules
@pytest.mark.parametrize("template", [None, TEMPLATE], ids=["pair", "template"])
@pytest.mark.parametrize("changed", [{}, PROMPTED, {"max_length": 20}], ids=str)
@pytest.mark.parametrize("query", ["w3 w4 w5", " ".join(WORDS[:8])])
def test_scores_are_those_of_sentence_transformers(one_label, tmp_path, template, changed, query):
    bare = one_label if template is None else _save_decoder(tmp_path / "bare")
    saved = _save_with_library(tmp_path / "saved", bare, **changed)
    scores = open_cross_encoder(saved, batch_size=5).score(Topic("t", query), documents())
    assert np.std(scores) > 1e-3
    assert np.allclose(scores, _library(saved, query, documents()), atol=1e-4)


@saved_by_modules
@pytest.mark.parametrize("template", [None, TEMPLATE], ids=["pair", "template"])
@pytest.mark.parametrize("changed", [{}, PROMPTED, {"max_length": 20}], ids=str)
def test_long_queries_and_documents_are_cut_as_in_sentence_transformers(
    one_label, tmp_path, template, changed
):
    """The longer of the two is cut first, so a long query is whole beside a short document."""
    bare = one_label if template is None else _save_decoder(tmp_path / "bare")
    saved = _save_with_library(tmp_path / "saved", bare, **changed)
    reranker = open_cross_encoder(saved, batch_size=5)
    random = np.random.default_rng(1)
    for words in (1, 12, 17, 25, 40):
        query = " ".join(random.choice(WORDS, words))
        scores = reranker.score(Topic("t", query), documents())
        assert np.allclose(scores, _library(saved, query, documents()), atol=1e-4)


def test_a_long_query_is_whole_beside_a_text_of_which_only_the_beginning_is_read(one_label):
    long = " " * 3000 + " ".join(WORDS[:40])
    query = " ".join(WORDS[:20])
    read = Documents.of([Document("d", "", long)])
    scores = open_cross_encoder(one_label).score(Topic("t", query), read)
    assert np.allclose(scores, _library(one_label, query, read), atol=1e-4)


def test_a_query_is_cut_to_so_many_tokens_where_that_is_asked_for(one_label):
    short = open_cross_encoder(one_label).score(Topic("t", "w1 w2 w3"), documents())
    topic = Topic("t", "w1 w2 w3 w4 w5 w6")
    assert open_cross_encoder(one_label, query_tokens=3).score(topic, documents()) == short


@saved_by_modules
def test_a_chat_template_of_any_tool_is_used(tmp_path):
    bare = _save_decoder(tmp_path / "bare")
    scores = open_cross_encoder(bare).score(QUERY, documents())
    assert np.allclose(scores, _library(bare, QUERY.query, documents()), atol=1e-4)


@saved_by_modules
@pytest.mark.parametrize("template", [None, TEMPLATE], ids=["pair", "template"])
@pytest.mark.parametrize("changed", [None, {}, PROMPTED], ids=str)
@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
def test_a_language_model_scores_by_its_answer_as_in_sentence_transformers(
    tmp_path, template, changed, tied
):
    folder = _save_decoder(tmp_path / "b", template, answers=True, tie_word_embeddings=tied)
    if changed is not None:
        folder = _save_with_library(tmp_path / "saved", folder, **changed)
    scores = open_cross_encoder(folder, batch_size=5).score(QUERY, documents())
    assert np.std(scores) > 1e-3
    assert np.allclose(scores, _library(folder, QUERY.query, documents()), atol=1e-4)
    alone = open_cross_encoder(folder, batch_size=1).score(QUERY, documents())
    assert np.allclose(scores, alone, atol=1e-5)


@saved_by_modules
def test_padding_does_not_move_the_words_of_a_language_model_that_answers(tmp_path):
    from transformers import GPTNeoConfig, GPTNeoForCausalLM

    reader = tokenizer(WORDS_OF_ROLES)
    sizes = {"vocab_size": len(reader), "hidden_size": 16, "num_layers": 1, "num_heads": 2}
    kinds = {"attention_types": [[["global"], 1]], "bos_token_id": 2, "eos_token_id": 3}
    torch.manual_seed(3)
    config = GPTNeoConfig(**sizes, **kinds, max_position_embeddings=LONGEST)
    GPTNeoForCausalLM(config).save_pretrained(tmp_path)
    reader.save_pretrained(tmp_path)
    generative = open_cross_encoder(tmp_path)
    generative.reader.model.network.reader.model.transformer.wpe.weight.data.mul_(50)
    long, short = Document("d1", "", " ".join(WORDS[:30])), Document("d2", "", WORDS[0])
    together = generative.score(QUERY, Documents.of([long, short]))
    assert together[1] == pytest.approx(generative.score(QUERY, Documents.of([short]))[0], abs=1e-5)


@saved_by_modules
def test_the_score_of_a_language_model_is_the_log_odds_of_yes_and_no(tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = _save_decoder(tmp_path, answers=True)
    text = "[CLS] query w3 w4 [SEP] [CLS] document w9 [SEP] w58 w59"
    reader = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = reader(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        logits = model(input_ids=ids).logits[0, -1]
    yes, no = reader.convert_tokens_to_ids(["yes", "no"])
    document = Documents.of([Document("d", "", "w9")])
    (score,) = open_cross_encoder(folder).score(Topic("t", "w3 w4"), document)
    assert score == pytest.approx(float(logits[yes] - logits[no]), abs=1e-4)


@saved_by_modules
def test_a_language_model_that_cannot_answer_is_refused(tmp_path):
    without = [word for word in WORDS_OF_ROLES if word != "no"]
    with pytest.raises(InputError, match="lacks the words that it should answer with, 'yes' and"):
        open_cross_encoder(_save_decoder(tmp_path / "words", words=without, answers=True))
    for_chats = "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}"
    with pytest.raises(InputError, match="cannot carry a 'query'/'document' pair"):
        open_cross_encoder(_save_decoder(tmp_path / "template", for_chats, answers=True))
    folder = _save_decoder(tmp_path / "half", answers=True, tie_word_embeddings=False)
    with safe_open(folder / "model.safetensors", framework="pt") as file:
        rest = {n: file.get_tensor(n) for n in file.keys() if n != "lm_head.weight"}  # noqa: SIM118
    save_file(rest, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="not the weights of a whole cross-encoder: lm_head"):
        open_cross_encoder(folder)


def _save_pooled(folder, labels=1):
    """A transformer with a pooling and a dense layer on top, as the library saves it."""
    from sentence_transformers import CrossEncoder as Library
    from sentence_transformers.base.modules import Dense, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    bare = save_transformer(folder.with_name("bare"))
    torch.manual_seed(labels)
    top = Dense(16, labels, activation_function=torch.nn.Tanh(), module_output_name="scores")
    parts = [Transformer(str(bare)), Pooling(16, pooling_mode="mean"), top]
    Library(modules=parts, device="cpu").save_pretrained(str(folder))
    return folder


@saved_by_modules
@pytest.mark.parametrize("label", [None, "2"])
def test_a_model_of_several_modules_scores_as_in_sentence_transformers(tmp_path, label):
    saved = _save_pooled(tmp_path / "saved", labels=1 if label is None else 3)
    logits = _library(saved, QUERY.query, documents())
    scores = open_cross_encoder(saved, batch_size=5, label=label).score(QUERY, documents())
    assert np.std(scores) > 1e-3
    if label is not None:
        shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        logits = np.log(shares[:, 2] / (1 - shares[:, 2]))
    assert np.allclose(scores, logits, atol=1e-4)


@saved_by_modules
@pytest.mark.parametrize("activation", ["Sigmoid", "Identity", "Tanh", "Softmin", "GELU"])
def test_scores_pass_through_the_activation_of_the_model_where_that_is_asked_for(
    one_label, tmp_path, activation
):
    from sentence_transformers import CrossEncoder as Library

    saved = _save_with_library(tmp_path / "saved", one_label)
    rewrite(saved, "config_sentence_transformers.json", activation_fn=f"torch.nn.{activation}")
    scores = open_cross_encoder(saved, output="model").score(QUERY, documents())
    pairs = [(QUERY.query, document.text) for document in documents()]
    assert np.allclose(scores, Library(str(saved), device="cpu").predict(pairs), atol=1e-5)
    rewrite(saved, "config_sentence_transformers.json", activation_fn="strange.Activation")
    with pytest.raises(InputError, match=r"activation function 'strange\.Activation' is not one"):
        open_cross_encoder(saved, output="model")


def test_a_release_of_the_library_without_modules_is_named(tmp_path, monkeypatch):
    folder = _save_decoder(tmp_path, answers=True)
    monkeypatch.setattr("irplatform_encoders.pretrained.metadata.version", lambda _: "5.6.0")
    with pytest.raises(InputError, match=r"needs sentence-transformers 5\.7 or newer; 5\.6\.0 is"):
        open_cross_encoder(folder)


def _told(folder, **options):
    resources = SmallResources()
    CrossEncoder(CrossEncoderOptions(model=str(folder), **options)).prepare(resources)
    return resources.told


@saved_by_modules
def test_a_chat_template_without_a_place_for_the_texts_is_told(tmp_path):
    for_chats = "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}"
    bare = _save_decoder(tmp_path / "bare", for_chats)
    assert _told(bare) == [
        "The model's chat template is not used: it does not take a query and a document"
    ]
    saved = _save_with_library(tmp_path / "saved", bare)
    with pytest.raises(InputError, match="chat template does not take a query and a document"):
        open_cross_encoder(saved)


@saved_by_modules
def test_a_prompt_of_the_user_takes_the_place_of_the_model_s(one_label, tmp_path):
    saved = _save_with_library(tmp_path / "saved", one_label, **PROMPTED)
    plain = open_cross_encoder(one_label)
    for prompt in ("", "w7 "):
        expected = plain.score(Topic("t", prompt + QUERY.query), documents())
        scores = open_cross_encoder(saved, query_prompt=prompt).score(QUERY, documents())
        assert np.allclose(scores, expected, atol=1e-5)


@saved_by_modules
def test_what_the_files_say_and_is_not_supported_is_refused(one_label, tmp_path):
    saved = _save_with_library(tmp_path / "saved", one_label)
    rewrite(saved, "config_sentence_transformers.json", default_prompt_name="nowhere")
    with pytest.raises(InputError, match="default prompt 'nowhere' is not among its prompts"):
        open_cross_encoder(saved)
    (saved / "adapter_config.json").write_text("{}")
    with pytest.raises(InputError, match="an adapter of another model"):
        open_cross_encoder(saved)


@saved_by_modules
@pytest.mark.parametrize("kind", ["SentenceTransformer", "SparseEncoder", "MultiVectorEncoder"])
def test_models_of_other_kinds_are_refused_before_any_work(one_label, tmp_path, kind):
    saved = _save_with_library(tmp_path / "saved", one_label)
    rewrite(saved, "config_sentence_transformers.json", model_type=kind)
    reranker = CrossEncoder(CrossEncoderOptions(model=str(saved)))
    with pytest.raises(InputError, match=f"is a {kind} .*'cross-encoder' needs a CrossEncoder"):
        reranker.reads()


@saved_by_modules
def test_what_of_the_files_is_not_used_is_told(one_label, two_labels, tmp_path):
    saved = _save_with_library(tmp_path / "one", one_label)
    assert _told(saved) == []
    rewrite(saved, "config_sentence_transformers.json", activation_fn="torch.nn.Softmin")
    assert _told(saved) == [
        "Scores are logits: the model's activation function Softmin is not used; "
        "cross-encoder.output=model uses it"
    ]
    assert _told(saved, output="model") == []
    assert _told(one_label, max_length=33) == [
        "The model reads 32 tokens at most, fewer than cross-encoder.max_length=33"
    ]
    folder = shutil.copytree(two_labels, tmp_path / "two")
    assert _told(folder) == []
    rewrite(folder, "config.json", id2label={"0": "no", "1": "yes"}, label2id={"no": 0, "yes": 1})
    assert _told(folder) == [
        "Of the model's labels (no, yes), 'yes' is read as relevant; cross-encoder.label names "
        "another"
    ]
