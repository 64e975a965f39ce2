"""Delta's training task: topics joined into one pool score as they do one by one."""

from pathlib import Path

import numpy as np
import pytest
import torch
from planted import hinge_loss
from small import labelled, small_resources, words

from irplatform.errors import InputError
from irplatform.features.side_features import SideFeatures
from irplatform.plugin import TrainingData
from irplatform_delta.closest_words import Encoder
from irplatform_delta.network import DeltaNetwork, DeltaTask, Sizes
from irplatform_delta.options import DeltaOptions

WORDS = words(30)
LEXICAL = ("bm25_text", "overlap_text")
OPTIONS = {
    "lexical": LEXICAL,
    "document_words": 6,
    "l2_convolution": 0.0,
    "l2_feed_forward": 0.0,
    "loop": {"batch_size": 5},
}


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    random = np.random.default_rng(2)
    texts = {f"d{n}": " ".join(random.choice(WORDS, random.integers(0, 10))) for n in range(20)}
    vectors = {word: random.normal(size=4) for word in WORDS[:20]}
    return small_resources(tmp_path_factory.mktemp("forward"), texts, vectors)


def _topics():
    random = np.random.default_rng(6)
    return [
        labelled(
            f"t{n}",
            [f"d{d}" for d in random.permutation(20)[:8]],
            {f"d{d}": int(d % 3) for d in range(20)},
            query=" ".join(random.choice(WORDS, 2 + n)),
        )
        for n in range(4)
    ]


def _task(resources, **changed):
    options = DeltaOptions.model_validate({**OPTIONS, **changed})
    encoder = Encoder(resources.index, resources.word_vectors, options, "cpu")
    torch.manual_seed(1)
    sizes = Sizes(4, len(options.lexical), 5, 3, 4, difference=True, delta_features=True)
    network = DeltaNetwork(sizes, options.slope, dropout=0.5).eval()
    topics = _topics()
    data = TrainingData(topics, topics, Path())
    side = SideFeatures((), {}, resources)
    task = DeltaTask(network, encoder, options, data, side, 1, lambda _steps: None)
    return task, network, encoder


def _score(network, encoder, topic, doc_id):
    encoded = encoder.encode(topic, [doc_id])
    table = network.tabulate(encoder.vectors)
    return float(network.tabulated(table, encoded.words, encoded.documents, encoded.lexical))


@torch.no_grad()
def test_the_loss_is_the_weighted_hinge_of_the_documents_own_scores(resources):
    task, network, encoder = _task(resources)
    task.standardize_lexical()

    def score(pair):
        return [_score(network, encoder, pair.topic, doc_id) for doc_id in pair.candidates]

    for batch in task.batches(0):
        expected = hinge_loss(task, batch, score)
        assert task.loss(batch).item() == pytest.approx(expected, abs=1e-5)


def test_the_two_penalties_are_added(resources):
    plain, network, _ = _task(resources)
    (batch, *_) = plain.batches(0)
    penalized, _, _ = _task(resources, l2_convolution=0.5, l2_feed_forward=0.25)
    difference = (penalized.loss(batch) - plain.loss(batch)).item()
    assert difference == pytest.approx(network.penalty(0.5, 0.25).item(), rel=1e-4)


@torch.no_grad()
def test_dropout_works_in_training_only(resources):
    task, network, _ = _task(resources)
    (batch, *_) = task.batches(0)
    quiet = {task.loss(batch).item() for _ in range(3)}
    network.train()
    noisy = {task.loss(batch).item() for _ in range(3)}
    assert len(quiet) == 1
    assert len(noisy) == 3


def test_an_epoch_has_the_same_batches_whenever_it_is_asked_for(resources):
    first, again = (_task(resources)[0] for _ in range(2))
    for one, other in zip(first.batches(3), again.batches(3), strict=True):
        assert np.array_equal(one.higher, other.higher)
        assert np.array_equal(one.lower, other.lower)


def test_nothing_to_tell_apart_is_an_error(resources):
    options = DeltaOptions.model_validate(OPTIONS)
    encoder = Encoder(resources.index, resources.word_vectors, options, "cpu")
    sizes = Sizes(4, 2, 5, 3, 4, difference=True, delta_features=True)
    topics = [labelled("t", ["d1", "d2"], {"d1": 1, "d2": 1})]
    with pytest.raises(InputError, match="no training topic has two candidates"):
        DeltaTask(
            DeltaNetwork(sizes, 0.1, 0.0), encoder, options,
            TrainingData(topics, [], Path()), SideFeatures((), {}, resources), 1, print,
        )  # fmt: skip
