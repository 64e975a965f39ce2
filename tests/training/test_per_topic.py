"""Values against the mean of their topic."""

from itertools import pairwise

import numpy as np
import pytest

from irplatform.training.linear import centered

OFFSETS = np.array([0, 3, 4, 6])


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_the_values_of_every_topic_have_the_mean_0(dtype):
    values = np.arange(12).reshape(6, 2).astype(dtype) ** 2
    result = centered(values, OFFSETS)
    assert result.dtype == np.float64
    for start, end in pairwise(OFFSETS):
        assert np.allclose(result[start:end], values[start:end] - values[start:end].mean(axis=0))
        assert np.allclose(centered(values[:, 0], OFFSETS)[start:end], result[start:end, 0])


def test_what_is_given_stays_as_it_is():
    values = np.ones(6)
    centered(values, OFFSETS)
    assert values.tolist() == [1] * 6
