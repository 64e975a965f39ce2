"""The cross-encoder: it scores as the model does, and opens nothing that it should not."""

import json
import pickle

import numpy as np
import pytest
import torch
from small import SmallResources

from irplatform.errors import InputError
from irplatform.plugin import Document, Documents, Topic
from irplatform_crossencoder.options import CrossEncoderOptions
from irplatform_crossencoder.reranker import CrossEncoder

WORDS = [f"w{number}" for number in range(60)]
LONGEST = 32


def _tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: number for number, word in enumerate([*special, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **dict(zip(names, special, strict=True))
    )


def _save(folder, labels=1, **changed):
    from transformers import BertConfig, BertForSequenceClassification

    sizes = {
        "vocab_size": 5 + len(WORDS),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": LONGEST,
        "initializer_range": 0.5,
    }
    torch.manual_seed(labels)
    model = BertForSequenceClassification(BertConfig(**sizes, num_labels=labels, **changed))
    model.save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
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


def _texts(seed, count):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(0, 50))) for _ in range(count)]


def _documents(seed=1, count=23):
    return Documents.of(
        [Document(f"d{n}", "w1 w2", text) for n, text in enumerate(_texts(seed, count))]
    )


def _plainly(folder, query, documents):
    """The logits of one document after the other, as the model's own library computes them."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    rows = []
    for document in documents:
        inputs = tokenizer(
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
    scores = _opened(folder, batch_size=5).score(QUERY, _documents())
    assert np.std(scores) > 1e-3
    assert np.allclose(scores, _plainly(folder, QUERY.query, _documents())[:, 0], atol=1e-5)


def test_of_two_labels_the_second_is_relevant(two_labels):
    logits = _plainly(two_labels, QUERY.query, _documents())
    scores = _opened(two_labels).score(QUERY, _documents())
    assert np.allclose(scores, logits[:, 1] - logits[:, 0], atol=1e-5)
    likely = _opened(two_labels, output="probability").score(QUERY, _documents())
    softmax = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert np.allclose(likely, softmax[:, 1], atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 4, 64])
def test_scores_do_not_depend_on_the_batch_size(folder, batch_size):
    expected = _opened(folder, batch_size=7).score(QUERY, _documents())
    found = _opened(folder, batch_size=batch_size).score(QUERY, _documents())
    assert np.allclose(found, expected, atol=1e-5)


def test_scores_do_not_depend_on_order_or_company(folder):
    reranker, documents = _opened(folder), list(_documents())
    together = np.array(reranker.score(QUERY, Documents.of(documents)))
    order = np.random.default_rng(0).permutation(len(documents))
    shuffled = reranker.score(QUERY, Documents.of([documents[i] for i in order]))
    assert np.allclose(shuffled, together[order], atol=1e-5)
    other = Topic("u", "w9")
    several = reranker.score_batch(
        [(other, _documents(2, 5)), (QUERY, Documents.of([])), (QUERY, Documents.of(documents))]
    )
    assert [len(scores) for scores in several] == [5, 0, len(documents)]
    assert np.allclose(several[2], together, atol=1e-5)
    assert np.allclose(several[0], reranker.score(other, _documents(2, 5)), atol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU with CUDA")
def test_a_gpu_scores_alike(folder):
    on_gpu = CrossEncoder(CrossEncoderOptions(model=str(folder)))
    on_gpu.prepare(SmallResources(device="cuda"))
    expected = _opened(folder).score(QUERY, _documents())
    assert np.allclose(on_gpu.score(QUERY, _documents()), expected, atol=1e-4)


def test_a_long_query_leaves_room_for_the_document(folder):
    long = Topic("t", " ".join(WORDS))
    scores = _opened(folder).score(long, _documents())
    assert np.isfinite(scores).all()
    assert np.std(scores) > 1e-3


def test_without_a_model_the_user_is_told_what_to_give():
    with pytest.raises(InputError, match=r"cross-encoder\.model=FOLDER.*never downloaded"):
        CrossEncoder().prepare(SmallResources())


def test_a_name_of_the_hub_is_not_downloaded():
    with pytest.raises(InputError, match=r"no such folder.*never downloaded.*download=true"):
        _opened("cross-encoder/ms-marco-MiniLM-L-6-v2")


def test_pickled_weights_are_refused(folder, tmp_path):
    for file in folder.iterdir():
        if file.suffix != ".safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(InputError, match="no weights in safetensors format"):
        _opened(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps({"weights": 1}))
    with pytest.raises(InputError, match="Pickled ones"):
        _opened(tmp_path)


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


def test_a_language_model_that_was_not_fine_tuned_is_refused(tmp_path):
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    BertModel(BertConfig(vocab_size=65, intermediate_size=32, **sizes)).save_pretrained(tmp_path)
    _tokenizer().save_pretrained(tmp_path)
    with pytest.raises(InputError, match="not the weights of a trained classifier"):
        _opened(tmp_path)


def test_a_model_of_three_classes_is_refused(tmp_path):
    with pytest.raises(InputError, match="has 3 labels"):
        _opened(_save(tmp_path, labels=3))


def test_another_folder_and_a_file_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"config\.json is missing"):
        _opened(tmp_path)
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"")
    with pytest.raises(InputError, match="a model is a folder"):
        _opened(file)
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read as JSON"):
        _opened(tmp_path)
