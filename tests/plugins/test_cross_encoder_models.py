"""Models of cross-encoders: labels, generative models, and files that are refused."""

import json
import math
import shutil

import numpy as np
import pytest
import torch
from cross_encoders import QUERY, open_cross_encoder, plain_logits, rewrite, save_cross_encoder
from pretrained_models import LONGEST, WORDS, documents, save_transformer, tokenizer
from safetensors import safe_open
from safetensors.torch import save_file
from tokenizers.processors import TemplateProcessing

from irplatform.errors import InputError
from irplatform.plugin import Document, Documents, Topic
from irplatform_encoders.crossencoder_model import _by_name
from irplatform_encoders.crossencoder_reranker import CrossEncoder
from irplatform_encoders.options import CrossEncoderOptions


def test_of_two_labels_the_second_is_relevant(two_labels):
    logits = plain_logits(two_labels, QUERY.query, documents())
    scores = open_cross_encoder(two_labels).score(QUERY, documents())
    assert np.allclose(scores, logits[:, 1] - logits[:, 0], atol=1e-5)
    likely = open_cross_encoder(two_labels, output="probability").score(QUERY, documents())
    softmax = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert np.allclose(likely, softmax[:, 1], atol=1e-5)


def _save_generative(folder, reader):
    from transformers import GPT2Config, GPT2ForSequenceClassification

    words = 5 + len(WORDS)
    sizes = {"vocab_size": words, "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": LONGEST}
    torch.manual_seed(3)
    config = GPT2Config(**sizes, num_labels=1, bos_token_id=2, eos_token_id=3)
    GPT2ForSequenceClassification(config).save_pretrained(folder)
    reader.save_pretrained(folder)
    return folder


def test_a_generative_model_that_does_not_name_its_padding_is_told_by_its_tokenizer(tmp_path):
    generative = _save_generative(tmp_path, tokenizer())
    scores = open_cross_encoder(generative, batch_size=5).score(QUERY, documents())
    alone = open_cross_encoder(generative, batch_size=1).score(QUERY, documents())
    assert np.allclose(scores, alone, atol=1e-5)


def test_padding_does_not_move_the_words_of_a_generative_model(tmp_path):
    """Its tokenizer pads on the left, as for writing, and it numbers positions from there."""
    _save_generative(tmp_path, tokenizer())
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "padding_side": "left"}))
    generative = open_cross_encoder(tmp_path)
    generative.reader.model.network.transformer.wpe.weight.data.mul_(50)
    texts = {"long": " ".join(WORDS[:30]), "short": WORDS[0]}

    def score(*doc_ids):
        read = Documents(doc_ids, lambda ids: [Document(i, "", texts[i]) for i in ids])
        return generative.score(QUERY, read)[-1]

    assert score("long", "short") == pytest.approx(score("short"), abs=1e-5)


def test_a_model_that_puts_nothing_between_texts_scores_two_empty_ones(tmp_path):
    reader = tokenizer()
    reader.backend_tokenizer.post_processor = TemplateProcessing(single="$A", pair="$A $B")
    generative = open_cross_encoder(_save_generative(tmp_path, reader))
    (text,) = generative.score(QUERY, documents(count=1))
    nothing = Documents(["a", "b"], lambda ids: [Document(i, "", "") for i in ids])
    first, second = generative.score(Topic("t", ""), nothing)
    assert np.isfinite(first) and first == second != text


def test_a_model_without_padding_is_refused(tmp_path):
    reader = tokenizer()
    reader.pad_token = None
    with pytest.raises(InputError, match="no padding token"):
        open_cross_encoder(_save_generative(tmp_path, reader))


def test_a_model_without_a_limit_reads_as_much_as_it_is_told_to(tmp_path):
    from transformers import XLNetConfig, XLNetForSequenceClassification

    sizes = {"vocab_size": 5 + len(WORDS), "d_model": 16, "n_layer": 1, "n_head": 2, "d_inner": 16}
    XLNetForSequenceClassification(XLNetConfig(**sizes, num_labels=1)).save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    scores = open_cross_encoder(tmp_path, batch_size=5).score(QUERY, documents())
    assert np.allclose(
        scores, open_cross_encoder(tmp_path, batch_size=1).score(QUERY, documents()), atol=1e-5
    )


def test_a_language_model_that_was_not_fine_tuned_is_refused(tmp_path):
    save_transformer(tmp_path)
    with pytest.raises(InputError, match="not the weights of a trained classifier"):
        open_cross_encoder(tmp_path)


def test_of_three_labels_the_score_is_the_log_odds_of_the_one_that_is_named(tmp_path):
    three = save_cross_encoder(tmp_path, labels=3)
    labels = {"id2label": {"0": "no", "1": "Partly", "2": "yes"}}
    rewrite(three, "config.json", **labels, label2id={"no": 0, "Partly": 1, "yes": 2})
    logits = plain_logits(three, QUERY.query, documents())
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    odds = np.log(shares / (1 - shares))
    for place, label in ((0, "no"), (1, "partly"), (1, "1"), (2, "yes")):
        scores = open_cross_encoder(three, label=label).score(QUERY, documents())
        assert np.allclose(scores, odds[:, place], atol=1e-4)
    likely = open_cross_encoder(three, label="yes", output="probability").score(QUERY, documents())
    assert np.allclose(likely, shares[:, 2], atol=1e-5)
    as_it_is = open_cross_encoder(three, label="yes", output="model").score(QUERY, documents())
    assert np.allclose(as_it_is, logits[:, 2], atol=1e-5)
    by_name = open_cross_encoder(three).score(QUERY, documents())
    assert np.allclose(by_name, odds[:, 2], atol=1e-4)
    with pytest.raises(InputError, match="'perhaps' is not among the labels of the model: no, P"):
        open_cross_encoder(three, label="perhaps")


@pytest.mark.parametrize(
    ("names", "relevant"),
    [
        (["LABEL_0", "LABEL_1"], 1),
        (["irrelevant", "relevant"], 1),
        (["Relevant", "Not Relevant"], 0),
        (["not_entailment", "entailment"], 1),
        (["entailment", "neutral", "contradiction"], 0),
        (["contradiction", "entailment", "neutral"], 1),
        (["NO", "YES"], 1),
        (["true", "false"], 0),
        (["POSITIVE", "NEGATIVE"], 0),
        (["1", "0"], 0),
        (["non-relevant", "partly relevant", "relevant"], 2),
        (["duplicate", "not_duplicate"], 0),
        (["irrelevant", "on topic"], 1),
        (["cat", "dog"], None),
        (["x", "y"], None),
        (["1", "5"], None),
        (["relevant", "highly relevant"], None),
        (["0", "1", "2"], None),
        (["LABEL_0", "LABEL_1", "LABEL_2"], None),
    ],
    ids=str,
)
def test_the_label_that_means_relevant_is_known_by_its_name(names, relevant):
    assert _by_name(names) == relevant


def test_reversed_labels_are_read_by_name_and_unknown_ones_need_an_option(two_labels, tmp_path):
    second = np.array(open_cross_encoder(two_labels).score(QUERY, documents()))
    folder = shutil.copytree(two_labels, tmp_path / "named")
    for names, sign in (
        ({"0": "relevant", "1": "irrelevant"}, -1),
        ({"1": "relevant", "0": "irrelevant"}, 1),
    ):
        rewrite(
            folder, "config.json", id2label=names, label2id={v: int(k) for k, v in names.items()}
        )
        scores = open_cross_encoder(folder).score(QUERY, documents())
        assert np.allclose(scores, sign * second, atol=1e-5)
    rewrite(folder, "config.json", id2label={"0": "a", "1": "b"}, label2id={"a": 0, "b": 1})
    with pytest.raises(
        InputError, match=r"2 labels \(a, b\): say which .*'cross-encoder\.label': 'b'"
    ):
        open_cross_encoder(folder)


def test_a_label_of_a_model_with_one_score_has_no_effect(one_label, two_labels):
    with pytest.raises(InputError, match=r"label has no effect: the model gives one score"):
        open_cross_encoder(one_label, label="0")
    second = np.array(open_cross_encoder(two_labels).score(QUERY, documents()))
    assert np.allclose(
        open_cross_encoder(two_labels, label="0").score(QUERY, documents()), -second, atol=1e-5
    )


def test_other_weights_in_the_same_folder_are_another_model(one_label, tmp_path):
    for number in (1, 2):
        save_cross_encoder(tmp_path / str(number), labels=number)
    before = open_cross_encoder(one_label).reads().more
    assert before == open_cross_encoder(tmp_path / "1").reads().more
    assert before != open_cross_encoder(tmp_path / "2").reads().more


def test_code_in_the_folder_is_not_run(one_label, tmp_path):
    for file in one_label.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    trace = tmp_path / "ran"
    (tmp_path / "strange.py").write_text(f"open({str(trace)!r}, 'w').close()\n", encoding="utf-8")
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    config["model_type"] = "strange"
    config["auto_map"] = {
        "AutoConfig": "strange.Config",
        "AutoModelForSequenceClassification": "strange.Model",
    }
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError):
        open_cross_encoder(tmp_path)
    assert not trace.exists()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_weights_that_are_no_numbers_are_refused_before_any_work(one_label, tmp_path, value):
    damaged = shutil.copytree(one_label, tmp_path / "damaged")
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
def test_weights_that_do_not_fit_the_model_are_refused(one_label, tmp_path, change):
    damaged = shutil.copytree(one_label, tmp_path / "damaged")
    path = damaged / "model.safetensors"
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    weight = tensors.pop("classifier.weight")
    if change == "reshape":
        tensors["classifier.weight"] = torch.cat([weight, weight])
    save_file(tensors, path, metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"classifier\.weight"):
        open_cross_encoder(damaged)
