"""What learning to rank says of its scores adds up to them."""

import numpy as np
import pytest

from irplatform_ltr.ensemble import Ensemble
from irplatform_ltr.learners import Table
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
