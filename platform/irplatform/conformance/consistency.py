"""Checks that scores and features depend on the document and the topic alone.

Batches are cut as memory allows and documents come in any order, so they must not change a score;
nor may a second call, or runs could not be made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from irplatform.conformance.check_data import TopicCandidates

Values = npt.NDArray[np.floating[Any]]
"""[documents] or [documents, features]."""
Outputs = list[Values]
"""One for each topic."""

_SPREAD, _SIZE = 1e-3, 1e-5
"""Differences that are rounding: as shares of a column's spread, and of its largest number."""


def inconsistencies(
    outputs: Callable[[TopicCandidates], Outputs], topics: TopicCandidates
) -> Iterator[str]:
    """Ways to ask the same that are answered otherwise, each in a line."""
    expected = outputs(topics)
    for way, again in (
        ("when it is asked again", outputs(topics)),
        ("when documents come in another order", _reversed(outputs, topics)),
        ("when other documents are with it", _halves(outputs, topics)),
        ("when topics come one at a time", [outputs([each])[0] for each in topics]),
    ):
        if deviation := difference(topics, expected, again):
            yield f"{deviation} {way}"


def difference(topics: TopicCandidates, expected: Outputs, actual: Outputs) -> str:
    """The first document with other values than before, in words; "" where there is none."""
    for (topic, doc_ids), before, after in zip(topics, expected, actual, strict=True):
        spread = np.ptp(before, axis=0)
        allowed = _SPREAD * spread + _SIZE * np.abs(before).max(axis=0)
        wrong = np.argwhere(np.abs(after - before) > allowed)
        if len(wrong):
            place = tuple(wrong[0])
            return (
                f"document {doc_ids[place[0]]} of topic {topic.id} has "
                f"{after[place]:.6g} instead of {before[place]:.6g}"
            )
    return ""


def _reversed(outputs: Callable[[TopicCandidates], Outputs], topics: TopicCandidates) -> Outputs:
    return [values[::-1] for values in outputs([(topic, ids[::-1]) for topic, ids in topics])]


def _halves(outputs: Callable[[TopicCandidates], Outputs], topics: TopicCandidates) -> Outputs:
    """Every other document, then those between them."""
    even, odd = (outputs([(topic, ids[start::2]) for topic, ids in topics]) for start in (0, 1))
    joined = []
    for first, second in zip(even, odd, strict=True):
        both = np.empty((len(first) + len(second), *first.shape[1:]))
        both[0::2], both[1::2] = first, second
        joined.append(both)
    return joined
