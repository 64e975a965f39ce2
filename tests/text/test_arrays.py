"""Slices of flat arrays."""

import numpy as np

from irplatform.text.arrays import ragged, without

VALUES = np.array([5, -1, 6, -1, 7, 8])
OFFSETS = np.array([0, 3, 4, 4, 6])


def test_slices_keep_their_order_without_what_is_dropped():
    values, offsets = without(VALUES, OFFSETS, VALUES < 0)
    assert [part.tolist() for part in np.split(values, offsets[1:-1])] == [[5, 6], [], [], [7, 8]]


def test_there_may_be_nothing_to_drop_and_nothing_at_all():
    values, offsets = without(VALUES, OFFSETS, VALUES > 9)
    assert (values.tolist(), offsets.tolist()) == (VALUES.tolist(), OFFSETS.tolist())
    values, offsets = without(VALUES[:0], OFFSETS[:1], VALUES[:0] < 0)
    assert (values.tolist(), offsets.tolist()) == ([], [0])


def test_slices_are_gathered_by_where_they_begin():
    indices, offsets = ragged(np.array([4, 0]), np.array([2, 3]))
    assert (VALUES[indices].tolist(), offsets.tolist()) == ([7, 8, 5, -1, 6], [0, 2, 5])
