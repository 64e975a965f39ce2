"""Slices of flat arrays."""

import errno
import os

import numpy as np
import pytest

from irplatform.text.arrays import new_matrix, ragged, without

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


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="files have holes here")
def test_a_matrix_has_its_space_on_the_disk_before_it_is_written(tmp_path, monkeypatch):
    # Otherwise a mapped write to a full disk would end the process by SIGBUS.
    new_matrix(tmp_path / "matrix.npy", (100_000, 10))
    assert (tmp_path / "matrix.npy").stat().st_blocks * 512 >= 4_000_000

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left") as raised:
        new_matrix(tmp_path / "large.npy", (2, 3))
    assert raised.value.filename == str(tmp_path / "large.npy")


def test_a_matrix_is_made_where_the_file_system_cannot_reserve_space(tmp_path, monkeypatch):
    def unable(*_):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "posix_fallocate", unable, raising=False)
    assert new_matrix(tmp_path / "matrix.npy", (2, 3)).shape == (2, 3)
