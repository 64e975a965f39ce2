"""The pairs that a linear model learns from are drawn without listing all of them."""

import numpy as np
import pytest

from irplatform.training.linear import MOST_PAIRS, _pairs_of_topic


@pytest.mark.parametrize("documents", [0, 1, 2, 50, 300])
def test_pairs_are_those_of_a_plain_list(documents):
    grades = np.random.default_rng(documents).integers(0, 4, documents)
    higher, lower = np.nonzero(grades[:, None] > grades[None, :])
    drawn = np.arange(len(higher))
    if len(higher) > MOST_PAIRS:
        random = np.random.default_rng(1)
        drawn = np.sort(random.choice(len(higher), MOST_PAIRS, replace=False))
    pairs = _pairs_of_topic(grades, np.random.default_rng(1))
    assert np.array_equal(pairs, (higher[drawn], lower[drawn]))


def test_a_topic_of_a_million_documents_has_so_many_pairs_as_others():
    grades = np.arange(1_000_000) % 3
    higher, lower = _pairs_of_topic(grades, np.random.default_rng(1))
    assert len(higher) == MOST_PAIRS
    assert (grades[higher] > grades[lower]).all()
