"""What features add to a score, for explanations: each group's share, and the largest features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST = 20
"""Features that are listed one by one."""


def contributions(
    groups: Sequence[Sequence[str]],
    values: npt.NDArray[np.float32],
    adds: npt.NDArray[np.floating[Any]],
) -> dict[str, Any]:
    """The part of one document's score that features make, as JSON.

    Args:
        groups: per group, the names of its features, `group.feature`.
        values: float32 [features], of all groups.
        adds: float [features], what each adds to the score.
    """
    names = [name for group in groups for name in group]
    order = np.argsort(-np.abs(adds), kind="stable")
    ends = np.cumsum([0, *map(len, groups)])
    shown, rest = order[:LARGEST], order[LARGEST:]
    parts: dict[str, Any] = {
        "groups": [
            {
                "group": group[0].partition(".")[0],
                "features": len(group),
                "adds": float(adds[start:end].sum()),
            }
            for group, start, end in zip(groups, ends[:-1], ends[1:], strict=True)
        ],
        "features": [
            {"feature": names[place], "value": float(values[place]), "adds": float(adds[place])}
            for place in shown
        ],
    }
    if len(rest):
        parts["other_features"] = {"features": len(rest), "adds": float(adds[rest].sum())}
    return parts
