"""The cross-encoder scores as the model does."""

import threading
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from cross_encoders import QUERY, open_cross_encoder, plain_logits
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pretrained_models import WORDS, documents
from small import SmallResources

from irplatform.plugin import Documents, Topic
from irplatform.runs.run import standardized
from irplatform.system.arithmetic import SETTINGS
from irplatform_encoders.crossencoder_reading import Reader
from irplatform_encoders.crossencoder_reranker import CrossEncoder, probabilities
from irplatform_encoders.options import CrossEncoderOptions


def test_scores_are_the_logits_of_the_model(one_label):
    scores = open_cross_encoder(one_label, batch_size=5).score(QUERY, documents())
    assert np.std(scores) > 1e-3
    assert np.allclose(scores, plain_logits(one_label, QUERY.query, documents())[:, 0], atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 4, 64])
def test_scores_do_not_depend_on_the_batch_size(one_label, batch_size):
    expected = open_cross_encoder(one_label, batch_size=7).score(QUERY, documents())
    scores = open_cross_encoder(one_label, batch_size=batch_size).score(QUERY, documents())
    assert np.allclose(scores, expected, atol=1e-5)


def test_scores_do_not_depend_on_order_or_company(one_label):
    reranker, read = open_cross_encoder(one_label), list(documents())
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


def test_threads_score_batches_at_the_same_time_and_alike(one_label, monkeypatch):
    monkeypatch.setattr("irplatform_encoders.batches._ON_CPU", 1)  # a pair in each batch
    alone = open_cross_encoder(one_label, batch_size=5).score(QUERY, documents())
    met, forward = threading.Barrier(2, timeout=30), Reader.forward

    def waiting(self, padded):
        assert torch.is_inference_mode_enabled()
        met.wait()
        return forward(self, padded)

    together = CrossEncoder(CrossEncoderOptions(model=str(one_label), batch_size=5))
    together.prepare(SmallResources(threads=2))
    even = documents(1, 30)  # which two threads share
    expected = open_cross_encoder(one_label, batch_size=5).score(QUERY, even)
    with monkeypatch.context() as patched:
        patched.setattr(Reader, "forward", waiting)
        assert together.score(QUERY, even) == expected
    assert together.score(QUERY, documents()) == alone


def test_rounded_weights_score_as_autocast_does(one_label, monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)  # native arithmetic
    scores = open_cross_encoder(one_label, precision="bfloat16").score(QUERY, documents())
    with monkeypatch.context() as patched:
        patched.setattr("irplatform_encoders.crossencoder_reading.round_weights", lambda _: None)
        assert (
            open_cross_encoder(one_label, precision="bfloat16").score(QUERY, documents()) == scores
        )
    assert scores != open_cross_encoder(one_label).score(QUERY, documents())


def test_many_pairs_are_tokenized_in_parts(one_label, monkeypatch):
    scores = open_cross_encoder(one_label).score(QUERY, documents())
    monkeypatch.setattr("irplatform_encoders.crossencoder_reading._TOKENIZED_AT_ONCE", 7)
    assert np.allclose(open_cross_encoder(one_label).score(QUERY, documents()), scores, atol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU with CUDA")
def test_a_gpu_scores_alike(one_label):
    on_gpu = CrossEncoder(CrossEncoderOptions(model=str(one_label)))
    on_gpu.prepare(SmallResources(device="cuda"))
    expected = open_cross_encoder(one_label).score(QUERY, documents())
    assert np.allclose(on_gpu.score(QUERY, documents()), expected, atol=1e-4)


def test_a_long_query_leaves_room_for_the_document(one_label):
    long = Topic("t", " ".join(WORDS))
    scores = open_cross_encoder(one_label).score(long, documents())
    assert np.isfinite(scores).all()
    assert np.std(scores) > 1e-3


def test_progress_counts_the_documents(one_label):
    """A topic of a thousand candidates takes minutes without a GPU."""
    counted = []

    class Watched(SmallResources):
        @contextmanager
        def progress(self, label, total, unit=""):
            counted.append(total)
            yield lambda steps: counted.append(-steps)

    reranker = CrossEncoder(CrossEncoderOptions(model=str(one_label), batch_size=4))
    reranker.prepare(Watched())
    reranker.score(QUERY, documents(count=10))
    assert counted == [10, -4, -4, -2]


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
