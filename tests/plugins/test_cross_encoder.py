"""The cross-encoder: it scores as the model does, and opens nothing that it should not."""

import json
import math
import shutil
import threading
from contextlib import contextmanager
from importlib import metadata

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from packaging.version import Version
from pretrained_models import LONGEST, WORDS, config, documents, save_transformer, tokenizer
from safetensors import safe_open
from safetensors.torch import save_file
from small import SmallResources
from tokenizers.processors import TemplateProcessing

from irplatform.errors import InputError
from irplatform.plugin import Document, Documents, Topic
from irplatform.runs.run import standardized
from irplatform.system.arithmetic import SETTINGS
from irplatform_encoders.crossencoder_reading import Reader
from irplatform_encoders.crossencoder_reranker import CrossEncoder, probabilities
from irplatform_encoders.options import CrossEncoderOptions

saved_by_modules = pytest.mark.skipif(
    Version(metadata.version("sentence-transformers")) < Version("5.7"),
    reason="sentence-transformers runs the modules of cross-encoders since 5.7",
)


def _save(folder, labels=1):
    from transformers import BertForSequenceClassification

    torch.manual_seed(labels)
    BertForSequenceClassification(config(num_labels=labels)).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return _save(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def two_labels(tmp_path_factory):
    return _save(tmp_path_factory.mktemp("two"), labels=2)


def _opened(folder, **options):
    reranker = CrossEncoder(CrossEncoderOptions(model=str(folder), **options))
    reranker.prepare(SmallResources())
    return reranker


def _plainly(folder, query, read):
    """The logits of one document after the other, as the model's own library computes them."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    reader = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    rows = []
    for document in read:
        inputs = reader(
            query,
            document.text,
            truncation="only_second",
            max_length=LONGEST,
            return_tensors="pt",
        )
        with torch.inference_mode():
            rows.append(model(**inputs).logits[0])
    return torch.stack(rows).numpy()


QUERY = Topic("t", "w3 w4 w5")


def test_scores_are_the_logits_of_the_model(folder):
    scores = _opened(folder, batch_size=5).score(QUERY, documents())
    assert np.std(scores) > 1e-3
    assert np.allclose(scores, _plainly(folder, QUERY.query, documents())[:, 0], atol=1e-5)


def test_of_two_labels_the_second_is_relevant(two_labels):
    logits = _plainly(two_labels, QUERY.query, documents())
    scores = _opened(two_labels).score(QUERY, documents())
    assert np.allclose(scores, logits[:, 1] - logits[:, 0], atol=1e-5)
    likely = _opened(two_labels, output="probability").score(QUERY, documents())
    softmax = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert np.allclose(likely, softmax[:, 1], atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 4, 64])
def test_scores_do_not_depend_on_the_batch_size(folder, batch_size):
    expected = _opened(folder, batch_size=7).score(QUERY, documents())
    found = _opened(folder, batch_size=batch_size).score(QUERY, documents())
    assert np.allclose(found, expected, atol=1e-5)


def test_scores_do_not_depend_on_order_or_company(folder):
    reranker, read = _opened(folder), list(documents())
    together = np.array(reranker.score(QUERY, Documents.of(read)))
    order = np.random.default_rng(0).permutation(len(read))
    shuffled = reranker.score(QUERY, Documents.of([read[i] for i in order]))
    assert np.allclose(shuffled, together[order], atol=1e-5)
    other = Topic("u", "w9")
    several = reranker.score_batch(
        [(other, documents(2, 5)), (QUERY, Documents.of([])), (QUERY, Documents.of(read))]
    )
    assert [len(scores) for scores in several] == [5, 0, len(read)]
    assert np.allclose(several[2], together, atol=1e-5)
    assert np.allclose(several[0], reranker.score(other, documents(2, 5)), atol=1e-5)


def test_threads_score_batches_at_the_same_time_and_alike(folder, monkeypatch):
    monkeypatch.setattr("irplatform_encoders.batches._ON_CPU", 1)  # a pair in each batch
    alone = _opened(folder, batch_size=5).score(QUERY, documents())
    met, forward = threading.Barrier(2, timeout=30), Reader.forward

    def waiting(self, padded):
        assert torch.is_inference_mode_enabled()
        met.wait()
        return forward(self, padded)

    together = CrossEncoder(CrossEncoderOptions(model=str(folder), batch_size=5))
    together.prepare(SmallResources(threads=2))
    even = documents(1, 30)  # which two threads share
    expected = _opened(folder, batch_size=5).score(QUERY, even)
    with monkeypatch.context() as patched:
        patched.setattr(Reader, "forward", waiting)
        assert together.score(QUERY, even) == expected
    assert together.score(QUERY, documents()) == alone


def test_weights_that_are_rounded_once_give_the_scores_of_autocast(folder, monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)  # native arithmetic
    found = _opened(folder, precision="bfloat16").score(QUERY, documents())
    with monkeypatch.context() as patched:
        patched.setattr("irplatform_encoders.crossencoder_reading.round_weights", lambda _: None)
        assert _opened(folder, precision="bfloat16").score(QUERY, documents()) == found
    assert found != _opened(folder).score(QUERY, documents())


def test_many_pairs_become_tokens_in_parts(folder, monkeypatch):
    whole = _opened(folder).score(QUERY, documents())
    monkeypatch.setattr("irplatform_encoders.crossencoder_reading._TOKENIZED_AT_ONCE", 7)
    assert np.allclose(_opened(folder).score(QUERY, documents()), whole, atol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU with CUDA")
def test_a_gpu_scores_alike(folder):
    on_gpu = CrossEncoder(CrossEncoderOptions(model=str(folder)))
    on_gpu.prepare(SmallResources(device="cuda"))
    expected = _opened(folder).score(QUERY, documents())
    assert np.allclose(on_gpu.score(QUERY, documents()), expected, atol=1e-4)


def test_a_long_query_leaves_room_for_the_document(folder):
    long = Topic("t", " ".join(WORDS))
    scores = _opened(folder).score(long, documents())
    assert np.isfinite(scores).all()
    assert np.std(scores) > 1e-3


def _save_generative(folder, reader):
    from transformers import GPT2Config, GPT2ForSequenceClassification

    words = 5 + len(WORDS)
    sizes = {"vocab_size": words, "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": LONGEST}
    torch.manual_seed(3)
    made = GPT2Config(**sizes, num_labels=1, bos_token_id=2, eos_token_id=3)
    GPT2ForSequenceClassification(made).save_pretrained(folder)
    reader.save_pretrained(folder)
    return folder


def test_a_generative_model_that_does_not_name_its_padding_is_told_by_its_tokenizer(tmp_path):
    generative = _save_generative(tmp_path, tokenizer())
    scores = _opened(generative, batch_size=5).score(QUERY, documents())
    alone = _opened(generative, batch_size=1).score(QUERY, documents())
    assert np.allclose(scores, alone, atol=1e-5)


def test_padding_does_not_move_the_words_of_a_generative_model(tmp_path):
    """Its tokenizer pads on the left, as for writing, and it numbers positions from there."""
    _save_generative(tmp_path, tokenizer())
    told = tmp_path / "tokenizer_config.json"
    told.write_text(json.dumps({**json.loads(told.read_text()), "padding_side": "left"}))
    generative = _opened(tmp_path)
    generative._reader.model.network.transformer.wpe.weight.data.mul_(50)
    texts = {"long": " ".join(WORDS[:30]), "short": WORDS[0]}

    def score(*asked):
        read = Documents(asked, lambda ids: [Document(i, "", texts[i]) for i in ids])
        return generative.score(QUERY, read)[-1]

    assert score("long", "short") == pytest.approx(score("short"), abs=1e-5)


def test_a_model_that_puts_nothing_between_texts_scores_two_empty_ones(tmp_path):
    reader = tokenizer()
    reader.backend_tokenizer.post_processor = TemplateProcessing(single="$A", pair="$A $B")
    generative = _opened(_save_generative(tmp_path, reader))
    (text,) = generative.score(QUERY, documents(count=1))
    nothing = Documents(["a", "b"], lambda ids: [Document(i, "", "") for i in ids])
    first, second = generative.score(Topic("t", ""), nothing)
    assert np.isfinite(first) and first == second != text


def test_a_model_without_padding_is_refused(tmp_path):
    reader = tokenizer()
    reader.pad_token = None
    with pytest.raises(InputError, match="no padding token"):
        _opened(_save_generative(tmp_path, reader))


def test_a_model_without_a_limit_reads_as_much_as_it_is_told_to(tmp_path):
    from transformers import XLNetConfig, XLNetForSequenceClassification

    sizes = {"vocab_size": 5 + len(WORDS), "d_model": 16, "n_layer": 1, "n_head": 2, "d_inner": 16}
    XLNetForSequenceClassification(XLNetConfig(**sizes, num_labels=1)).save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    scores = _opened(tmp_path, batch_size=5).score(QUERY, documents())
    assert np.allclose(scores, _opened(tmp_path, batch_size=1).score(QUERY, documents()), atol=1e-5)


def test_a_language_model_that_was_not_fine_tuned_is_refused(tmp_path):
    save_transformer(tmp_path)
    with pytest.raises(InputError, match="not the weights of a trained classifier"):
        _opened(tmp_path)


def test_of_three_labels_the_score_is_the_log_odds_of_the_one_that_is_named(tmp_path):
    three = _save(tmp_path, labels=3)
    named = {"id2label": {"0": "no", "1": "Partly", "2": "yes"}}
    _rewritten(three, "config.json", **named, label2id={"no": 0, "Partly": 1, "yes": 2})
    logits = _plainly(three, QUERY.query, documents())
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    odds = np.log(shares / (1 - shares))
    for place, label in ((0, "no"), (1, "partly"), (1, "1"), (2, "yes")):
        scores = _opened(three, label=label).score(QUERY, documents())
        assert np.allclose(scores, odds[:, place], atol=1e-4)
    likely = _opened(three, label="yes", output="probability").score(QUERY, documents())
    assert np.allclose(likely, shares[:, 2], atol=1e-5)
    as_it_is = _opened(three, label="yes", output="model").score(QUERY, documents())
    assert np.allclose(as_it_is, logits[:, 2], atol=1e-5)
    with pytest.raises(InputError, match=r"3 labels \(no, Partly, yes\): say which .*label=yes"):
        _opened(three)
    with pytest.raises(InputError, match="'perhaps' is not among the labels of the model: no, P"):
        _opened(three, label="perhaps")


def test_a_label_of_a_model_with_one_score_has_no_effect(folder, two_labels):
    with pytest.raises(InputError, match=r"label has no effect: the model gives one score"):
        _opened(folder, label="0")
    second = np.array(_opened(two_labels).score(QUERY, documents()))
    assert np.allclose(_opened(two_labels, label="0").score(QUERY, documents()), -second, atol=1e-5)


def test_other_weights_in_the_same_folder_are_another_model(folder, tmp_path):
    for number in (1, 2):
        _save(tmp_path / str(number), labels=number)
    before = _opened(folder).reads().more
    assert before == _opened(tmp_path / "1").reads().more
    assert before != _opened(tmp_path / "2").reads().more


def test_code_in_the_folder_is_not_run(folder, tmp_path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    ran = tmp_path / "ran"
    (tmp_path / "strange.py").write_text(f"open({str(ran)!r}, 'w').close()\n", encoding="utf-8")
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    config["model_type"] = "strange"
    config["auto_map"] = {
        "AutoConfig": "strange.Config",
        "AutoModelForSequenceClassification": "strange.Model",
    }
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError):
        _opened(tmp_path)
    assert not ran.exists()


def test_progress_counts_the_documents(folder):
    """A topic of a thousand candidates takes minutes without a GPU."""
    counted = []

    class Watched(SmallResources):
        @contextmanager
        def progress(self, label, total, unit=""):
            counted.append(total)
            yield lambda steps: counted.append(-steps)

    reranker = CrossEncoder(CrossEncoderOptions(model=str(folder), batch_size=4))
    reranker.prepare(Watched())
    reranker.score(QUERY, documents(count=10))
    assert counted == [10, -4, -4, -2]


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
    made = Qwen3Config(
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
    (Qwen3ForCausalLM if answers else Qwen3ForSequenceClassification)(made).save_pretrained(folder)
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
def test_scores_are_those_of_sentence_transformers(folder, tmp_path, template, changed, query):
    bare = folder if template is None else _save_decoder(tmp_path / "bare")
    saved = _save_with_library(tmp_path / "saved", bare, **changed)
    scores = _opened(saved, batch_size=5).score(Topic("t", query), documents())
    assert np.std(scores) > 1e-3
    assert np.allclose(scores, _library(saved, query, documents()), atol=1e-4)


@saved_by_modules
def test_a_chat_template_of_any_tool_is_used(tmp_path):
    bare = _save_decoder(tmp_path / "bare")
    scores = _opened(bare).score(QUERY, documents())
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
    scores = _opened(folder, batch_size=5).score(QUERY, documents())
    assert np.std(scores) > 1e-3
    assert np.allclose(scores, _library(folder, QUERY.query, documents()), atol=1e-4)
    alone = _opened(folder, batch_size=1).score(QUERY, documents())
    assert np.allclose(scores, alone, atol=1e-5)


@saved_by_modules
def test_padding_does_not_move_the_words_of_a_language_model_that_answers(tmp_path):
    from transformers import GPTNeoConfig, GPTNeoForCausalLM

    reader = tokenizer(WORDS_OF_ROLES)
    sizes = {"vocab_size": len(reader), "hidden_size": 16, "num_layers": 1, "num_heads": 2}
    kinds = {"attention_types": [[["global"], 1]], "bos_token_id": 2, "eos_token_id": 3}
    torch.manual_seed(3)
    made = GPTNeoConfig(**sizes, **kinds, max_position_embeddings=LONGEST)
    GPTNeoForCausalLM(made).save_pretrained(tmp_path)
    reader.save_pretrained(tmp_path)
    generative = _opened(tmp_path)
    generative._reader.model.network.reader.model.transformer.wpe.weight.data.mul_(50)
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
    (score,) = _opened(folder).score(Topic("t", "w3 w4"), document)
    assert score == pytest.approx(float(logits[yes] - logits[no]), abs=1e-4)


@saved_by_modules
def test_a_language_model_that_cannot_answer_is_refused(tmp_path):
    without = [word for word in WORDS_OF_ROLES if word != "no"]
    with pytest.raises(InputError, match="lacks the words that it should answer with, 'yes' and"):
        _opened(_save_decoder(tmp_path / "words", words=without, answers=True))
    for_chats = "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}"
    with pytest.raises(InputError, match="cannot carry a 'query'/'document' pair"):
        _opened(_save_decoder(tmp_path / "template", for_chats, answers=True))
    folder = _save_decoder(tmp_path / "half", answers=True, tie_word_embeddings=False)
    with safe_open(folder / "model.safetensors", framework="pt") as file:
        kept = {n: file.get_tensor(n) for n in file.keys() if n != "lm_head.weight"}  # noqa: SIM118
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="not the weights of a whole cross-encoder: lm_head"):
        _opened(folder)


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
    scores = _opened(saved, batch_size=5, label=label).score(QUERY, documents())
    assert np.std(scores) > 1e-3
    if label is not None:
        shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        logits = np.log(shares[:, 2] / (1 - shares[:, 2]))
    assert np.allclose(scores, logits, atol=1e-4)


@saved_by_modules
@pytest.mark.parametrize("activation", ["Sigmoid", "Identity", "Tanh", "Softmin", "GELU"])
def test_scores_pass_through_the_activation_of_the_model_where_that_is_asked_for(
    folder, tmp_path, activation
):
    from sentence_transformers import CrossEncoder as Library

    saved = _save_with_library(tmp_path / "saved", folder)
    _rewritten(saved, "config_sentence_transformers.json", activation_fn=f"torch.nn.{activation}")
    scores = _opened(saved, output="model").score(QUERY, documents())
    pairs = [(QUERY.query, document.text) for document in documents()]
    assert np.allclose(scores, Library(str(saved), device="cpu").predict(pairs), atol=1e-5)
    _rewritten(saved, "config_sentence_transformers.json", activation_fn="strange.Activation")
    with pytest.raises(InputError, match=r"activation function 'strange\.Activation' is not one"):
        _opened(saved, output="model")


def test_a_release_of_the_library_without_modules_is_named(tmp_path, monkeypatch):
    folder = _save_decoder(tmp_path, answers=True)
    monkeypatch.setattr("irplatform_encoders.pretrained.metadata.version", lambda _: "5.6.0")
    with pytest.raises(InputError, match=r"needs sentence-transformers 5\.7 or newer; 5\.6\.0 is"):
        _opened(folder)


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
        _opened(saved)


@saved_by_modules
def test_a_prompt_of_the_user_takes_the_place_of_the_model_s(folder, tmp_path):
    saved = _save_with_library(tmp_path / "saved", folder, **PROMPTED)
    plain = _opened(folder)
    for prompt in ("", "w7 "):
        expected = plain.score(Topic("t", prompt + QUERY.query), documents())
        scores = _opened(saved, query_prompt=prompt).score(QUERY, documents())
        assert np.allclose(scores, expected, atol=1e-5)


def _rewritten(folder, name, **changed):
    path = folder / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))


@saved_by_modules
def test_what_the_files_say_and_is_not_supported_is_refused(folder, tmp_path):
    saved = _save_with_library(tmp_path / "saved", folder)
    _rewritten(saved, "config_sentence_transformers.json", default_prompt_name="nowhere")
    with pytest.raises(InputError, match="default prompt 'nowhere' is not among its prompts"):
        _opened(saved)
    (saved / "adapter_config.json").write_text("{}")
    with pytest.raises(InputError, match="an adapter of another model"):
        _opened(saved)


@saved_by_modules
@pytest.mark.parametrize("kind", ["SentenceTransformer", "SparseEncoder", "MultiVectorEncoder"])
def test_models_of_other_kinds_are_refused_before_any_work(folder, tmp_path, kind):
    saved = _save_with_library(tmp_path / "saved", folder)
    _rewritten(saved, "config_sentence_transformers.json", model_type=kind)
    reranker = CrossEncoder(CrossEncoderOptions(model=str(saved)))
    with pytest.raises(InputError, match=f"is a {kind} .*'cross-encoder' needs a CrossEncoder"):
        reranker.reads()


@saved_by_modules
def test_what_of_the_files_is_not_used_is_told(folder, two_labels, tmp_path):
    saved = _save_with_library(tmp_path / "one", folder)
    assert _told(saved) == []
    _rewritten(saved, "config_sentence_transformers.json", activation_fn="torch.nn.Softmin")
    assert _told(saved) == [
        "Scores are logits: the model's activation function Softmin is not used; "
        "cross-encoder.output=model uses it"
    ]
    assert _told(saved, output="model") == []
    assert _told(folder, max_length=33) == [
        "The model reads 32 tokens at most, fewer than cross-encoder.max_length=33"
    ]
    named = shutil.copytree(two_labels, tmp_path / "two")
    assert _told(named) == []
    _rewritten(named, "config.json", id2label={"0": "no", "1": "yes"}, label2id={"no": 0, "yes": 1})
    assert _told(named) == [
        "Of the model's labels, 'yes' is read as relevant and 'no' as not relevant"
    ]


@given(
    logits=st.lists(st.floats(-150, 150, width=32), min_size=1, max_size=60, unique=True),
    far=st.booleans(),
)
@settings(max_examples=60)
def test_probabilities_keep_the_order_of_logits_in_a_run(logits, far):
    values = torch.tensor(logits) + (60 if far else 0)
    values = torch.unique(torch.round(values, decimals=3)).reshape(-1)
    assume(len(values) > 1)
    scores = probabilities(values).numpy()
    assert (np.diff(standardized(scores).astype(np.float32)) >= 0).all()
    assert ((scores >= 0) & (scores <= 1)).all()
    assert np.allclose(scores, 1 / (1 + np.exp(-values.double().numpy())), atol=1e-3)
    saturated = values > 20
    assert (np.diff(standardized(scores).astype(np.float32)[saturated]) > 0).all()


def test_probabilities_of_moderate_logits_are_their_sigmoids():
    logits = torch.linspace(-9, 9, 101)
    assert torch.equal(probabilities(logits), logits.double().sigmoid())


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_weights_that_are_no_numbers_are_refused_before_any_work(folder, tmp_path, value):
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    path = damaged / "model.safetensors"
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    tensors["classifier.weight"][0, 3] = value
    save_file(tensors, path, metadata={"format": "pt"})
    reranker = CrossEncoder(CrossEncoderOptions(model=str(damaged)))
    with pytest.raises(
        InputError, match=r"safetensors: the tensor 'classifier\.weight' has values"
    ):
        reranker.reads()


@pytest.mark.parametrize("change", ["drop", "reshape"])
def test_weights_that_do_not_fit_the_model_are_refused(folder, tmp_path, change):
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    path = damaged / "model.safetensors"
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    weight = tensors.pop("classifier.weight")
    if change == "reshape":
        tensors["classifier.weight"] = torch.cat([weight, weight])
    save_file(tensors, path, metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"classifier\.weight"):
        _opened(damaged)
