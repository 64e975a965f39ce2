"""Trees, the linear model, the network, and their average."""

from dataclasses import replace

import numpy as np
import pytest

from irplatform.errors import InputError
from irplatform_ltr.ensemble import Ensemble, Views
from irplatform_ltr.learners import PairwiseLinear, Standard, Table, Trees, levels
from irplatform_ltr.options import LinearOptions, LtrOptions, NetworkOptions, TreeOptions
from irplatform_ltr.pairwise_network import PairwiseNetwork

TREES = TreeOptions(trees=40, leaf_documents=5)
OPTIONS = LtrOptions(tree=TREES)
QUICK = LtrOptions(tree=TREES, network=NetworkOptions(epochs=4))
"""For what holds however little was learned."""


def _table(seed=3, topics=30, documents=20):
    """Grades follow the second feature within a topic; topics differ by an offset."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(topics * documents, 5)).astype(np.float32)
    features[:, 1] += np.repeat(random.normal(scale=0.2, size=topics), documents)
    grades = np.zeros(topics * documents, dtype=np.int64)
    for topic in range(topics):
        rows = np.arange(topic * documents, (topic + 1) * documents)
        grades[rows[np.argsort(features[rows, 1])[-4:]]] = [1, 1, 2, 2]
    return Table(features, grades, np.arange(0, topics * documents + 1, documents))


def _precision_at_1(scores, table):
    first = [
        table.grades[start + np.argmax(scores[start:end])]
        for start, end in zip(table.offsets[:-1], table.offsets[1:], strict=True)
    ]
    return np.mean(np.array(first) > 0)


def _learners():
    return {
        "lambdamart": Trees("lambdarank", TREES),
        "regression": Trees("regression", TREES),
        "linear": PairwiseLinear(LinearOptions(l2=0.01)),
        "network": PairwiseNetwork(NetworkOptions()),
        "average": Ensemble.of(OPTIONS),
    }


@pytest.mark.parametrize("name", _learners())
def test_each_finds_the_feature_that_tells(name):
    learner = _learners()[name]
    learner.fit(_table(), 1)
    unseen = _table(seed=4)
    assert _precision_at_1(learner.score(unseen.features), unseen) >= 0.95


@pytest.mark.parametrize("learner", ["trees", "linear", "network", "average"])
def test_what_was_saved_scores_alike(learner, tmp_path):
    options = QUICK.model_copy(update={"learner": learner})
    fitted, read = Ensemble.of(options), Ensemble.of(options)
    fitted.fit(_table(), 1)
    fitted.save(tmp_path)
    read.load(tmp_path)
    unseen = _table(seed=5).features
    assert read.score(unseen).tolist() == fitted.score(unseen).tolist()
    assert {path.suffix for path in tmp_path.iterdir()} <= {".json", ".txt"}


@pytest.mark.slow
def test_neither_repetition_nor_threads_change_the_model(tmp_path, monkeypatch):
    monkeypatch.setattr("irplatform_ltr.learners._MANY", 1)
    for name, threads in (("a", 1), ("b", 1), ("c", 3)):
        (tmp_path / name).mkdir()
        ensemble = Ensemble.of(QUICK, threads)
        ensemble.fit(_table(), 7)
        ensemble.save(tmp_path / name)
    for file in (tmp_path / "a").iterdir():
        for other in ("b", "c"):
            assert file.read_bytes() == (tmp_path / other / file.name).read_bytes()


def test_scores_do_not_depend_on_what_else_is_scored():
    ensemble = Ensemble.of(QUICK)
    ensemble.fit(_table(), 1)
    features = _table(seed=6).features
    scores = ensemble.score(features)
    assert ensemble.score(features[100:107]).tolist() == scores[100:107].tolist()
    assert ensemble.score(features[::-1]).tolist() == scores[::-1].tolist()


class Column:
    """A learner whose score is one feature."""

    def __init__(self, column):
        self.column = column

    def fit(self, table, seed):
        pass

    def score(self, features):
        return features[:, self.column].astype(np.float64)

    def contributions(self, features):
        return np.stack([self.score(features), np.ones(len(features))], axis=1)


def test_learners_have_the_same_say_whatever_the_scale_of_their_scores():
    """Of scores that are told apart within topics: what a topic adds to all of them is nothing."""
    table = _table()
    features = table.features * np.array([1, 1000, 1, 1, 1], np.float32)
    features[:, 1] += np.repeat(np.arange(30) * 5000, 20)
    ensemble = Ensemble({"small": Column(0), "large": Column(1)})
    ensemble.fit(Table(features, table.grades, table.offsets), 1)
    topics = features[:, :2].astype(np.float64).reshape(30, 20, 2)
    deviations = np.sqrt(topics.var(axis=1).mean(axis=0))
    unseen = _table(seed=4).features
    scores = ensemble.score(unseen)
    np.testing.assert_allclose(scores, (unseen[:, :2] / deviations).mean(axis=1), rtol=1e-5)
    adds = ensemble.contributions(unseen)
    np.testing.assert_allclose(adds[:, 0], scores, rtol=1e-9)
    np.testing.assert_allclose(adds[:, 1], (1 / deviations).mean(), rtol=1e-5)


def test_a_learner_that_tells_no_documents_apart_is_no_division_by_zero():
    table = _table()
    ensemble = Ensemble({"flat": Column(0)})
    ensemble.fit(Table(np.zeros_like(table.features), table.grades, table.offsets), 1)
    assert not ensemble.score(np.zeros((3, 5), np.float32)).any()


def test_the_linear_model_is_at_the_minimum_of_its_loss():
    table = _table(topics=6, documents=8)
    model = PairwiseLinear(LinearOptions(l2=0.1))
    model.fit(table, 1)

    def loss(weights):
        """The loss as the module states it, pair by pair."""
        scores = Standard.of(table)(table.features) @ weights
        total = 0.0
        for start, end in zip(table.offsets[:-1], table.offsets[1:], strict=True):
            value = weight = 0.0
            for high in range(start, end):
                for low in range(start, end):
                    difference = table.grades[high] - table.grades[low]
                    if difference > 0:
                        value += difference * np.log1p(np.exp(scores[low] - scores[high]))
                        weight += difference
            total += value / weight
        return total / 6 + 0.05 * weights @ weights

    best = loss(model._weights)
    for axis in np.eye(5):
        assert loss(model._weights + 0.01 * axis) > best
        assert loss(model._weights - 0.01 * axis) > best


def test_features_are_standardized_within_topics_and_clipped():
    features = np.array([[1, 5], [3, 5], [10, 5], [14, 5]], dtype=np.float32)
    standard = Standard.of(Table(features, np.array([0, 1, 0, 1]), np.array([0, 2, 4])))
    assert standard.mean.tolist() == [7, 5]
    assert standard.deviation.tolist() == [np.sqrt((1 + 1 + 4 + 4) / 4), 0]
    values = standard(np.array([[7, 9], [8, 9], [99, 9]], dtype=np.float32))
    np.testing.assert_allclose(values, [[0, 0], [1 / np.sqrt(2.5), 0], [4, 0]])


def test_the_network_finds_what_no_weighted_sum_can_say():
    """Relevant is what has two features of the same sign."""
    random = np.random.default_rng(5)
    features = random.normal(size=(40 * 20, 2)).astype(np.float32)
    grades = (features[:, 0] * features[:, 1] > 0).astype(np.int64)
    table = Table(features, grades, np.arange(0, 801, 20))
    training, unseen = Table(features[:600], grades[:600], table.offsets[:31]), features[600:]
    network = PairwiseNetwork(NetworkOptions(dropout=0.1, epochs=60))
    linear = PairwiseLinear(LinearOptions())
    accuracy = {}
    for learner in (network, linear):
        learner.fit(training, 1)
        scores, relevant = learner.score(unseen), grades[600:] > 0
        accuracy[learner] = np.mean(scores[relevant][:, None] > scores[~relevant])
    assert accuracy[network] > 0.95
    assert accuracy[linear] < 0.7


def test_the_networks_contributions_add_up_to_its_score_of_average_features():
    network = PairwiseNetwork(NetworkOptions())
    network.fit(_table(), 1)
    features = _table(seed=4).features
    adds = network.contributions(features)
    scores = network.score(features)
    np.testing.assert_allclose(adds.sum(axis=1), scores, atol=1e-9)
    (average,) = network.score(Standard.of(_table()).mean[None].astype(np.float32))
    np.testing.assert_allclose(adds[:, -1], average, atol=0.05 * scores.std())


def test_each_topic_is_seen_at_least_once_however_many_there_are():
    """More topics than steps: one epoch, and the network has learned from it."""
    network = PairwiseNetwork(NetworkOptions(steps=10))
    network.fit(_table(topics=400), 1)
    unseen = _table(seed=4)
    assert _precision_at_1(network.score(unseen.features), unseen) >= 0.9


def test_grades_of_many_levels_are_scaled_and_keep_their_order():
    assert levels(np.array([0, 1, 3])).tolist() == [0, 1, 3]
    assert levels(np.array([0, 1, 50, 100])).tolist() == [0, 1, 50, 100]
    assert levels(np.array([0, 1, 50_000, 100_000])).tolist() == [0, 1, 500, 1000]
    assert levels(np.array([0, 5.5, 13.375, 50])).tolist() == [0, 110, 268, 1000]


@pytest.mark.parametrize("name", _learners())
def test_each_tells_neighbouring_grades_of_many_apart(name):
    """Clicks are graded from 0 to 100."""
    learner = _learners()[name]
    table, unseen = _table(), _table(seed=4)
    learner.fit(replace(table, grades=98 + table.grades), 1)
    assert _precision_at_1(learner.score(unseen.features), unseen) >= 0.95


def test_a_damaged_model_is_refused(tmp_path):
    ensemble = Ensemble.of(QUICK)
    ensemble.fit(_table(), 1)
    ensemble.save(tmp_path)
    text = (tmp_path / "network.json").read_text()
    for name, message in (("network", "not a network"), ("linear", "linear model")):
        (tmp_path / f"{name}.json").write_text("{}")
        with pytest.raises(InputError, match=message):
            Ensemble.of(QUICK).load(tmp_path)
    (tmp_path / "network.json").write_text(text)
    (tmp_path / "ensemble.json").unlink()
    with pytest.raises(InputError, match=r"ensemble\.json: there is no such file"):
        Ensemble.of(QUICK).load(tmp_path)


@pytest.mark.slow
def test_views_average_learners_that_read_all_and_learners_that_do_not_remember(tmp_path):
    remembers = np.array([True, False, False, True, False])
    options = QUICK.model_copy(update={"memory_share": 0.25})
    table, unseen = _table(), _table(seed=4).features
    views, read = Views(options, remembers), Views(options, remembers)
    views.fit(table, 1)
    views.save(tmp_path)
    read.load(tmp_path)
    everything, rest = Ensemble.of(options), Ensemble.of(options)
    everything.fit(table, 1)
    rest.fit(Table(table.features[:, ~remembers].copy(), table.grades, table.offsets), 1)
    expected = 0.25 * everything.score(unseen) + 0.75 * rest.score(unseen[:, ~remembers])
    for model in (views, read):
        np.testing.assert_allclose(model.score(unseen), expected, rtol=1e-12)
        np.testing.assert_allclose(model.contributions(unseen).sum(axis=1), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("remembers", "share"), [([False] * 5, 0.5), ([True] * 5, 0.5), ([True] + [False] * 4, 1.0)]
)
def test_there_is_one_view_where_nothing_or_everything_remembers(remembers, share, tmp_path):
    views = Views(QUICK.model_copy(update={"memory_share": share}), np.array(remembers))
    table, plain = _table(), Ensemble.of(QUICK)
    for learner in (views, plain):
        learner.fit(table, 1)
    assert views.score(table.features).tolist() == plain.score(table.features).tolist()
    views.save(tmp_path)
    assert not any(path.is_dir() for path in tmp_path.iterdir())
