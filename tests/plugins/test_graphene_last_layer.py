"""GRAPHENE's last layer weighs the network's own score and the features."""

import numpy as np
import pytest

from irplatform_graphene.model import fit_last_layer
from irplatform_graphene.network import GrapheneNetwork, Sizes


def _last_layer(scores, features, grades, *, normalized=True):
    """A network after its last layer was fitted to topics of four documents."""
    sizes = Sizes(
        dimensions=4, projection=5, hidden=4, layers=1, graph=0, vector=7, filters=5,
        shortcut=True, normalized=normalized, features=features.shape[1],
    )  # fmt: skip
    network = GrapheneNetwork(sizes, dropout=0)
    if normalized:
        network.scale.data.fill_(1)
    offsets = np.arange(0, len(scores) + 1, 4)
    fit_last_layer(network, scores, features, grades, offsets, l2=0.1, seed=1)
    return network


def _within_topics(values):
    topics = values.reshape(-1, 4)
    return (topics - topics.mean(axis=1, keepdims=True)).std()


GRADES = np.tile([0, 0, 1, 2], 10)
OWN = np.random.default_rng(1).normal(GRADES, 3).astype(np.float32)
FEATURES = np.random.default_rng(2).normal(GRADES[:, None], [1, 4], (40, 2)).astype(np.float32)


def test_the_last_layer_spreads_scores_of_a_topic_by_two():
    fitted = _last_layer(OWN, FEATURES, GRADES)
    weights = fitted.feature_weights.numpy()
    assert fitted.scale.item() > 0
    assert _within_topics(fitted.scale.item() * OWN + FEATURES @ weights) == pytest.approx(2)
    assert weights[0] > weights[1] > 0


def test_scores_that_are_all_the_same_leave_their_scale_alone():
    fitted = _last_layer(np.full_like(OWN, -1.0), FEATURES, GRADES)
    assert fitted.scale.item() == 1
    assert fitted.feature_weights.abs().min() > 0


def test_the_networks_own_score_counts_a_little_even_where_it_misleads():
    fitted = _last_layer(-OWN, FEATURES, GRADES)
    assert fitted.scale.item() == pytest.approx(0.05 / _within_topics(OWN))


def test_without_a_scale_the_weights_of_features_are_those_beside_an_own_score_of_weight_1():
    scaled, plain = (_last_layer(OWN, FEATURES, GRADES, normalized=on) for on in (True, False))
    expected = scaled.feature_weights / scaled.scale.item()
    assert np.allclose(plain.feature_weights, expected, rtol=1e-5)


def test_a_feature_that_varies_between_topics_alone_has_no_weight():
    constant = np.repeat(np.arange(10, dtype=np.float32), 4)[:, None]
    fitted = _last_layer(OWN, np.hstack([FEATURES, constant]), GRADES)
    assert fitted.feature_weights[2] == 0
    assert fitted.feature_weights[0] > 0
