"""The fine-tuned cross-encoder: what it begins with, its loss, and its steps."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from planted import planted_data, planted_resources, planted_topics, scores
from pretrained_models import config, save_transformer_of_vectors, tokenizer

from irplatform.errors import InputError
from irplatform_encoders.crossencoder_reading import ListsTask, listwise_logistic, rate_share
from irplatform_encoders.crossencoder_reranker import VanillaBert


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    return planted_resources(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def folder(resources, tmp_path_factory):
    return save_transformer_of_vectors(tmp_path_factory.mktemp("model"), resources.word_vectors)


def _prepared(folder, resources, **options):
    reranker = VanillaBert(VanillaBert.Options.model_validate({"model": str(folder), **options}))
    reranker.prepare(resources)
    return reranker


def _task(reranker, resources, workspace):
    return ListsTask(reranker.reader, reranker.options, planted_data(workspace), resources)


def _save_classifier(folder, resources, labels):
    from transformers import BertForSequenceClassification

    reader = tokenizer(list(resources.word_vectors.words))
    torch.manual_seed(labels)
    model = BertForSequenceClassification(config(vocab_size=len(reader), num_labels=labels))
    model.save_pretrained(folder)
    reader.save_pretrained(folder)
    return folder


def test_the_layer_on_top_of_a_language_model_follows_from_the_seed(folder, resources):
    first, again = (_prepared(folder, resources).network.state_dict() for _ in range(2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert first["classifier.weight"].shape == (1, 16)


@pytest.mark.parametrize("labels", [1, 2])
def test_a_classifier_is_gone_on_with(resources, tmp_path, labels):
    """Untrained, it scores as `cross-encoder` does with it."""
    from irplatform_encoders.crossencoder_reranker import CrossEncoder

    _save_classifier(tmp_path, resources, labels)
    as_it_is = CrossEncoder(CrossEncoder.Options(model=str(tmp_path)))
    as_it_is.prepare(resources)
    (topic,) = planted_topics([3])
    values = scores(_prepared(tmp_path, resources), resources, topic)
    assert np.std(values) > 1e-3
    assert np.array_equal(values, scores(as_it_is, resources, topic))


def test_a_classifier_of_three_labels_is_refused(resources, tmp_path):
    with pytest.raises(InputError, match="has 3 labels"):
        _prepared(_save_classifier(tmp_path, resources, 3), resources)


def test_a_model_that_lacks_weights_is_refused(folder, resources, tmp_path):
    from safetensors.torch import load_file, save_file

    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    rest = {name: tensor for name, tensor in weights.items() if "layer.1." not in name}
    save_file(rest, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"no weights of the whole transformer: .*, and \d+ more"):
        _prepared(tmp_path, resources)


def test_a_tagger_of_words_gets_a_new_layer_on_top(resources, tmp_path):
    """Its own, of as many outputs as there are tags, has the same name."""
    from transformers import BertForTokenClassification

    reader = tokenizer(list(resources.word_vectors.words))
    model = BertForTokenClassification(config(vocab_size=len(reader), num_labels=5))
    model.save_pretrained(tmp_path)
    reader.save_pretrained(tmp_path)
    weights = _prepared(tmp_path, resources).network.state_dict()
    assert weights["classifier.weight"].shape == (1, 16)
    name = "bert.encoder.layer.1.output.dense.weight"
    assert torch.equal(weights[name], model.state_dict()[name])


def test_a_transformer_of_another_size_than_it_says_is_refused(folder, resources, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    said = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**said, "intermediate_size": 32}))
    with pytest.raises(InputError, match="missing or of another size, and 5 more"):
        _prepared(tmp_path, resources)


def test_weights_are_named_for_the_files_that_they_began_with(folder, resources, tmp_path):
    shutil.copytree(folder, tmp_path / "model")
    reranker = _prepared(tmp_path / "model", resources)
    (tmp_path / "model" / "config.json").unlink()
    reranker.save(tmp_path)
    _prepared(folder, resources).load(tmp_path)


def test_without_a_model_nothing_begins():
    with pytest.raises(InputError, match="'vanilla-bert' needs a model"):
        VanillaBert().reads()


def test_loss_is_the_mean_over_lists_of_what_is_scored_alone(folder, resources, tmp_path):
    reranker = _prepared(folder, resources, loop={"batch_size": 30})
    task = _task(reranker, resources, tmp_path)
    batch = next(iter(task.batches(0)))
    assert len(batch) == 2
    alone = []
    for number, places in zip(batch.topic, batch.documents, strict=True):
        pool = task.sampler.pools[number]
        topic = replace(pool.labelled, candidates=tuple(pool.doc_ids[place] for place in places))
        grades = torch.from_numpy(pool.grades[places])
        values = torch.from_numpy(scores(reranker, resources, topic))
        alone.append(float(listwise_logistic(values, grades)))
    assert float(task.loss(task.read(batch)).detach()) == pytest.approx(np.mean(alone), abs=1e-5)


def test_documents_of_a_step_are_read_by_their_length_and_scored_in_their_order(folder, resources):
    reader = _prepared(folder, resources).reader
    words = list(resources.word_vectors.words)
    pairs = reader.encode([(words[0], " ".join(words[:n])) for n in (9, 2, 30, 1, 17, 4) * 4])
    with torch.inference_mode():
        read = reader.forward_to_train(reader.step(pairs))
        alone = torch.cat([reader.forward(reader.padded([pair])) for pair in pairs])
    assert len({float(score) for score in alone}) > 4
    assert torch.allclose(read, alone, atol=1e-6)


@pytest.mark.parametrize("side", ["left", "right"])
def test_pairs_are_padded_as_their_tokenizer_does(folder, resources, side, monkeypatch):
    reader = _prepared(folder, resources).reader
    reader.model.tokenizer.padding_side = side
    monkeypatch.setattr(type(reader.model.tokenizer), "pad_token_type_id", 3)
    reader.model.tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    words = list(resources.word_vectors.words)
    pairs = reader.encode([(words[0], " ".join(words[:n])) for n in (3, 0, 9)])
    lists = [{name: ids.tolist() for name, ids in pair.items()} for pair in pairs]
    expected = reader.model.tokenizer.pad(lists, return_tensors="pt")
    batch = reader.padded(pairs)
    assert batch.keys() == expected.keys() >= {"input_ids", "attention_mask"}
    assert all(torch.equal(batch[name], expected[name]) for name in batch)


def test_long_texts_are_read_as_far_as_they_fit_and_no_other_way(folder, resources, monkeypatch):
    reranker = _prepared(folder, resources, max_length=12)
    words = list(resources.word_vectors.words)
    long = " ".join(words[n % len(words)] for n in range(400))
    gaps = (words[0] + " " * 50) * 30  # more characters per token than almost any text has
    pairs = [(words[0], text) for text in ("", words[1], long, gaps, "x" * 1000)]
    batches = []
    tokenizer = reranker.reader.model.tokenizer
    real = type(tokenizer).__call__
    monkeypatch.setattr(
        type(tokenizer),
        "__call__",
        lambda self, *texts, **k: batches.extend(texts[1:]) or real(self, *texts, **k),
    )
    encodings = reranker.reader.encode(pairs)
    queries, texts = map(list, zip(*pairs, strict=True))
    ids = real(tokenizer, queries, texts, truncation="only_second", max_length=12)["input_ids"]
    assert [pair["input_ids"].tolist() for pair in encodings] == ids
    assert max(map(len, batches[0][:4])) < 300
    assert gaps in batches[1]
    assert long not in batches[1]


def test_the_end_of_a_text_is_read_where_the_tokenizer_cuts_the_beginning(folder, resources):
    reader = _prepared(folder, resources, max_length=12).reader
    words = list(resources.word_vectors.words)
    long = " ".join(words[n % len(words)] for n in range(400))
    reader.model.tokenizer.truncation_side = "left"
    (pair,) = reader.encode([(words[0], long)])
    (end,) = reader.encode([(words[0], " ".join(long.split()[-30:]))])
    assert pair["input_ids"].tolist() == end["input_ids"].tolist()


def test_a_model_of_three_labels_is_refused_before_any_work(resources, tmp_path):
    path = _save_classifier(tmp_path, resources, 3)
    with pytest.raises(InputError, match="the model has 3 labels"):
        VanillaBert(VanillaBert.Options(model=str(path))).reads().check()


def test_pretraining_has_steps_of_its_own(folder):
    options = VanillaBert.Options(
        model=str(folder),
        max_length=64,
        batch_size=7,
        loop={"epochs": 5, "warmup": 0.3},
        pretraining={"epochs": 2, "learning_rate": 1e-4},
    )
    heeded = VanillaBert(options).traits().pretraining_options
    assert (heeded.loop.epochs, heeded.loop.learning_rate) == (2, 1e-4)
    assert (heeded.lists.relevant_per_topic, heeded.lists.relevant_per_list) == (1, 8)
    assert (heeded.loop.warmup, heeded.max_length, heeded.model) == (0.3, 64, str(folder))
    assert heeded.batch_size == 7
    shorter = options.model_copy(
        update={"pretraining": options.pretraining.model_copy(update={"max_length": 32})}
    )
    assert VanillaBert(shorter).traits().pretraining_options.max_length == 32


@pytest.mark.parametrize("arithmetic", ["native", "portable"])
def test_short_numbers_are_heeded_where_they_are_quick(
    folder, resources, tmp_path, monkeypatch, arithmetic
):
    """Scores differ a little and learning goes on; portable arithmetic has none."""
    monkeypatch.setattr("irplatform_encoders.on_cpu.portable", lambda: arithmetic == "portable")
    (topic,) = planted_topics([3])
    exact = scores(_prepared(folder, resources), resources, topic)
    reranker = _prepared(folder, resources, precision="bfloat16")
    short = scores(reranker, resources, topic)
    assert short.dtype == exact.dtype
    assert np.array_equal(short, exact) == (arithmetic == "portable")
    assert np.allclose(short, exact, atol=0.05)
    rounded = torch.from_numpy(short).bfloat16().double().numpy()
    assert not np.any(rounded == short), "logits have all their digits, so that few tie"
    task = _task(reranker, resources, tmp_path)
    task.loss(task.read(next(iter(task.batches(0))))).backward()
    weight = reranker.network.classifier.weight
    assert weight.dtype == weight.grad.dtype == torch.float32
    assert float(weight.grad.abs().sum()) > 0


def test_only_matrices_are_decayed_and_the_layer_on_top_has_a_rate_of_its_own(
    folder, resources, tmp_path
):
    options = {"learning_rate": 0.1, "head_learning_rate": 0.2, "weight_decay": 0.3}
    reranker = _prepared(folder, resources, loop=options)
    names = {parameter: name for name, parameter in reranker.network.named_parameters()}
    rates = {}
    for group in _task(reranker, resources, tmp_path).optimizer().param_groups:
        for parameter in group["params"]:
            rates[names[parameter]] = (group["lr"], group["weight_decay"])
    assert len(rates) == len(names)
    assert rates["bert.encoder.layer.0.output.dense.weight"] == (0.1, 0.3)
    assert rates["bert.encoder.layer.0.output.dense.bias"] == (0.1, 0.0)
    assert rates["bert.encoder.layer.0.output.LayerNorm.weight"] == (0.1, 0.0)
    assert rates["classifier.weight"] == (0.2, 0.3)
    assert rates["classifier.bias"] == (0.2, 0.0)


def test_a_layer_that_was_learned_already_has_the_rate_of_all_others(resources, tmp_path):
    (tmp_path / "work").mkdir()
    folder = _save_classifier(tmp_path / "model", resources, 1)
    reranker = _prepared(folder, resources, loop={"learning_rate": 0.1, "head_learning_rate": 0.2})
    groups = _task(reranker, resources, tmp_path / "work").optimizer().param_groups
    assert {group["lr"] for group in groups} == {0.1}


def test_a_layer_that_was_pretrained_has_the_rate_of_all_others(folder, resources, tmp_path):
    _prepared(folder, resources).save(tmp_path)
    reranker = _prepared(folder, resources, loop={"learning_rate": 0.1, "head_learning_rate": 0.2})
    reranker.load(tmp_path)
    (tmp_path / "work").mkdir()
    groups = _task(reranker, resources, tmp_path / "work").optimizer().param_groups
    assert {group["lr"] for group in groups} == {0.1}


def test_rates_rise_and_fall_to_nothing(folder, resources, tmp_path):
    loop = {"learning_rate": 0.1, "batch_size": 50, "epochs": 2, "warmup": 0.2}
    reranker = _prepared(folder, resources, loop=loop)
    task = _task(reranker, resources, tmp_path)
    optimizer = task.optimizer()
    advances = []
    task.advance = advances.append
    rates = []
    for epoch in range(2):
        for step, _ in enumerate(task.batches(epoch)):
            task.before_step(optimizer, epoch, step)
            rates.append(optimizer.param_groups[0]["lr"])
    highest = int(np.argmax(rates))
    assert len(rates) == task.all_steps == sum(advances)
    assert np.all(np.diff(rates[: highest + 1]) > 0)
    assert np.all(np.diff(rates[highest:]) < 0)
    assert 0 < rates[0] < max(rates) <= 0.1
    assert 0 < rates[-1] < 0.01


def test_a_rate_without_a_warm_up_only_falls():
    assert [rate_share(share, 0.0) for share in (0.0, 0.5, 1.0)] == [1.0, 0.5, 0.0]
    assert [rate_share(share, 0.5) for share in (0.25, 0.5, 0.75)] == [0.5, 1.0, 0.5]


def test_long_gradients_are_cut(folder, resources, tmp_path):
    reranker = _prepared(folder, resources, loop={"longest_gradient": 0.01})
    task = _task(reranker, resources, tmp_path)
    task.loss(task.read(next(iter(task.batches(0))))).backward()
    task.before_step(task.optimizer(), 0, 0)
    gradients = [p.grad for p in reranker.network.parameters() if p.grad is not None]
    assert torch.stack([g.norm() for g in gradients]).norm() <= 0.0101


def test_epochs_are_judged_by_the_first_candidates(folder, resources, tmp_path):
    reranker = _prepared(folder, resources, validation_topics=4, validation_depth=5)
    task = _task(reranker, resources, tmp_path)
    read = []
    task.reader.scores = lambda pairs: read.append(len(pairs)) or torch.zeros(len(pairs))
    task.validate()
    assert read == [5, 5, 5, 5]


def test_what_ranks_already_stays_where_no_epoch_is_better(
    folder, resources, tmp_path, monkeypatch
):
    calls = []
    monkeypatch.setattr(
        "irplatform_encoders.crossencoder_reranker.run_loop",
        lambda *_, keep_start, **__: calls.append(keep_start),
    )
    language_model = _prepared(folder, resources)
    language_model.fit(planted_data(tmp_path))
    language_model.save(tmp_path)
    pretrained = _prepared(folder, resources)
    pretrained.load(tmp_path)
    classifier = _prepared(_save_classifier(tmp_path / "classifier", resources, 1), resources)
    for reranker in (pretrained, classifier):
        reranker.fit(planted_data(tmp_path))
    assert calls == [False, True, True]


def test_the_loss_is_that_of_all_pairs_of_different_grade():
    scores, grades = torch.tensor([0.5, -1.0, 2.0, 0.0]), torch.tensor([2, 0, 1, 0])
    expected = total = 0.0
    for i in range(4):
        for j in range(4):
            if grades[i] > grades[j]:
                weight = float(grades[i] - grades[j]) ** 0.5
                expected += weight * np.log1p(np.exp(float(scores[j] - scores[i])))
                total += weight
    assert float(listwise_logistic(scores, grades)) == pytest.approx(expected / total)
