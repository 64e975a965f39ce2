"""Arrays on disk that grow while they are made, and slices of flat arrays."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from pathlib import Path

Number = TypeVar("Number", bound=np.generic)

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Matrix = np.memmap[Any, np.dtype[np.float32]]
_BLOCK = 1 << 20


class ArrayWriter:
    """Writes a one-dimensional array piece by piece, as raw little-endian numbers."""

    def __init__(self, path: Path, dtype: npt.DTypeLike) -> None:
        self._file = path.open("wb")
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self.size = 0

    def append(self, values: npt.NDArray[Any]) -> None:
        """Add numbers at the end."""
        self._file.write(np.ascontiguousarray(values, dtype=self._dtype).data)
        self.size += len(values)

    def close(self) -> None:
        """Finish the file."""
        self._file.close()

    def __enter__(self) -> ArrayWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def write_array(path: Path, values: npt.NDArray[Any]) -> None:
    """Write a whole one-dimensional array."""
    with ArrayWriter(path, values.dtype) as writer:
        writer.append(values)


def map_array(path: Path, dtype: type[Number]) -> npt.NDArray[Number]:
    """Memory-map an array that was written here, read-only.

    It is a plain array, not a `numpy.memmap`, whose slices cost several times as much.
    """
    if path.stat().st_size == 0:
        return np.empty(0, dtype=dtype)
    mapped = np.memmap(path, dtype=np.dtype(dtype).newbyteorder("<"), mode="r")
    return np.asarray(mapped)


def new_array(path: Path, dtype: npt.DTypeLike, size: int) -> npt.NDArray[Any]:
    """A one-dimensional array on disk, with its space reserved, to be filled; see `map_array`."""
    of_file = np.dtype(dtype).newbyteorder("<")
    with path.open("wb") as file:
        file.truncate(size * of_file.itemsize)
    if not size:
        return np.empty(0, dtype=of_file)
    _reserve(path, 0)
    return np.memmap(path, dtype=of_file, mode="r+")


def new_matrix(path: Path, shape: tuple[int, int]) -> Matrix:
    """A float32 matrix on disk, as .npy, with its space reserved, to be filled and flushed."""
    open_memmap: Any = np.lib.format.open_memmap
    matrix: Matrix = open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    _reserve(path, matrix.offset)
    return matrix


def _reserve(path: Path, start: int) -> None:
    """Reserve a file's space: a mapped write to a full disk ends in a signal.

    Zeros are written from `start` on where the system reserves nothing.
    """
    size = path.stat().st_size
    try:
        with path.open("r+b") as file:
            if not _allocated(file.fileno(), size):
                file.seek(start)
                for place in range(start, size, _BLOCK):
                    file.write(bytes(min(_BLOCK, size - place)))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _allocated(handle: int, size: int) -> bool:
    try:
        os.posix_fallocate(handle, 0, size)
    except AttributeError:  # as on macOS
        return False
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.EOPNOTSUPP):  # the file system's own ways
            return False
        raise
    return True


def ragged(starts: Int64, lengths: Int64) -> tuple[Int64, Int64]:
    """Indices that gather slices of a flat array, given where each begins and how long it is.

    Returns:
        The indices, and the offsets of the slices among them, [slices + 1].
    """
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    indices = np.arange(offsets[-1], dtype=np.int64)
    indices += np.repeat(starts - offsets[:-1], lengths)
    return indices, offsets


def without(
    values: npt.NDArray[Number], offsets: Int64, dropped: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[Number], Int64]:
    """Slices of a flat array without some of their values, and their new offsets, [slices + 1]."""
    mask = ~dropped
    before = np.concatenate([[0], np.cumsum(mask)])
    return values[mask], before[offsets]
