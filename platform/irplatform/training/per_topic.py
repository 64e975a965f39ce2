"""Values of documents that lie topic by topic, against the mean of their topic.

Only documents of one topic are compared with each other: what all of them share says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from irplatform.text.arrays import Float64, Int64


def centered(values: npt.NDArray[Any], offsets: Int64) -> Float64:
    """Values less their topic's mean.

    Args:
        values: [documents] or [documents, features], the documents of a topic together.
        offsets: int64 [topics + 1], where the documents of each topic begin; no topic is empty.

    Returns:
        float64, of the same shape.
    """
    values = np.asarray(values, dtype=np.float64)
    sizes = np.diff(offsets)
    totals = np.add.reduceat(values, offsets[:-1])
    means = totals / sizes.reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray(values - np.repeat(means, sizes, axis=0))
