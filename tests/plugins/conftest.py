"""Data and models that several files of tests use."""

import numpy as np
import pytest
from graph_resources import graph_resources
from planted import planted_resources
from pretrained_models import WORDS, save_sentence_encoder, texts
from small import small_resources


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return planted_resources(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def planted_graph(cache_of_module, tmp_path_factory):
    """The same with a concept graph."""
    return graph_resources(tmp_path_factory.mktemp("planted-graph"))


@pytest.fixture(scope="module")
def sentence_encoder(tmp_path_factory):
    return save_sentence_encoder(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture(scope="module")
def bare_encoder(sentence_encoder):
    """The transformer of the sentence encoder, without its pooling."""
    return sentence_encoder.with_name("model-bare")


@pytest.fixture
def text_resources(tmp_path):
    """Resources of 120 short documents."""
    documents = {f"d{n}": text for n, text in enumerate(texts(1, 120))}
    return small_resources(tmp_path / "forward", documents, {word: np.ones(2) for word in WORDS})


@pytest.fixture(scope="module")
def one_label(tmp_path_factory):
    """A cross-encoder that gives one score."""
    from cross_encoders import save_cross_encoder

    return save_cross_encoder(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def two_labels(tmp_path_factory):
    """A cross-encoder that gives a score to each of two labels."""
    from cross_encoders import save_cross_encoder

    return save_cross_encoder(tmp_path_factory.mktemp("two"), labels=2)
