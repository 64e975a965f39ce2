"""A difference is clear where it is larger than its standard error."""

import math
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.comparison.tests import MeanDifference

VALUES = st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=50)


@given(VALUES)
def test_it_is_the_mean_and_its_standard_error(values):
    difference = MeanDifference.of(np.array(values))
    assert difference.mean == pytest.approx(fmean(values), abs=1e-9)
    assert difference.error == pytest.approx(stdev(values) / math.sqrt(len(values)), abs=1e-9)


@pytest.mark.parametrize(
    ("differences", "clear"),
    [
        ([0.1, 0.1, 0.1, 0.2], True),
        ([1.0, -0.2, -0.2, -0.2], False),
        ([-0.1, -0.1, -0.1, -0.2], False),
        ([0.0, 0.0, 0.0], False),
        ([0.3, 0.3, 0.3], True),
        ([3.0, 0.0, 0.0], False),  # as large as the error, not larger
        ([0.5, 0.5], False),  # two topics prove nothing
        ([0.5], False),
    ],
)
def test_only_what_is_larger_than_its_error_is_clear(differences, clear):
    assert MeanDifference.of(np.array(differences)).is_clear is clear
