"""At most so many items are left, spread evenly."""

import pytest

from irplatform.workers.distribution import sample_evenly


@pytest.mark.parametrize(
    ("count", "most", "sample"),
    [
        (0, 3, []),
        (3, 3, [0, 1, 2]),
        (4, 3, [0, 2]),
        (6, 3, [0, 2, 4]),
        (7, 3, [0, 3, 6]),
        (10, 3, [0, 4, 8]),
        (5, 1, [0]),
    ],
)
def test_every_nth_is_left(count, most, sample):
    assert list(sample_evenly(range(count), most)) == sample


def test_no_more_than_asked_for_and_more_than_half_of_it():
    for count in range(1, 400):
        for most in (1, 7, 50):
            sample = sample_evenly(list(range(count)), most)
            assert min(count, most) / 2 <= len(sample) <= most
