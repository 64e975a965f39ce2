"""What learning to rank says of its scores adds up to them."""

import numpy as np
import pytest

from irplatform_ltr.explanation import LARGEST, explanation
from irplatform_ltr.learners.ensemble import Ensemble
from irplatform_ltr.learners.learner import Table
from irplatform_ltr.options import LtrOptions


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(5)
    features = random.normal(size=(120, 4)).astype(np.float32)
    grades = (features[:, 1] + 0.3 * random.normal(size=120) > 0.5).astype(np.int64)
    return Table(features, grades, np.arange(0, 121, 12))


@pytest.mark.parametrize("learner", ["linear", "trees", "network", "average"])
def test_contributions_add_up_to_the_score_and_what_matters_has_most(table, learner):
    ensemble = Ensemble.of(LtrOptions(learner=learner, tree={"trees": 20, "leaf_documents": 5}))
    ensemble.fit(table, seed=1)
    adds = ensemble.contributions(table.features)
    assert adds.shape == (120, 5)
    np.testing.assert_allclose(adds.sum(axis=1), ensemble.score(table.features), atol=1e-9)
    assert np.abs(adds[:, :4]).mean(axis=0).argmax() == 1


def test_groups_and_features_are_told_the_largest_first():
    groups = [("a.x", "a.y"), tuple(f"b.{n}" for n in range(LARGEST))]
    adds = np.array([0.1, -5.0, *np.linspace(1, 2, LARGEST), 7.0])
    values = np.arange(LARGEST + 2, dtype=np.float32)
    told = explanation(float(adds.sum()), groups, values, adds)
    assert told["constant"] == 7.0
    assert [(g["group"], g["features"]) for g in told["groups"]] == [("a", 2), ("b", LARGEST)]
    assert told["features"][0] == {"feature": "a.y", "value": 1.0, "adds": -5.0}
    assert len(told["features"]) == LARGEST
    assert told["other_features"]["features"] == 2
    parts = [f["adds"] for f in told["features"]] + [told["other_features"]["adds"], 7.0]
    assert sum(parts) == pytest.approx(told["score"])
    assert sum(g["adds"] for g in told["groups"]) + 7 == pytest.approx(told["score"])
