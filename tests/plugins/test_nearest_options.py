"""When all vectors are compared."""

import pytest

from irplatform_encoders.options import NearestOptions


@pytest.mark.parametrize(
    ("index", "small", "large"),
    [("auto", True, False), ("exact", True, True), ("ivf", False, False)],
)
def test_small_collections_are_compared_whole_unless_it_is_said(index, small, large):
    options = NearestOptions(index=index)
    assert (options.compares_all(999_999), options.compares_all(1_000_000)) == (small, large)
