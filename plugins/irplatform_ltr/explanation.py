"""What features add to a score: the largest of them, and each group's together.

The parts add up to the score. The linear model's are weights times standardized features, those of
trees Shapley values (LightGBM's `pred_contrib`) and those of the network integrated gradients; the
latter two share out what features do together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform_ltr.learners.learner import Features, Scores

LARGEST = 20
"""Features that are listed one by one."""


def explanation(
    score: float, groups: Sequence[Sequence[str]], values: Features, adds: Scores
) -> dict[str, Any]:
    """One document's score in parts.

    Args:
        score: the score.
        groups: per group, the names of its features, `group.feature`.
        values: float32 [features], of all groups.
        adds: float64 [features + 1], what each adds to the score; the last one is the constant.
    """
    names = [name for group in groups for name in group]
    order = np.argsort(-np.abs(adds[:-1]), kind="stable")
    ends = np.cumsum([0, *map(len, groups)])
    shown, rest = order[:LARGEST], order[LARGEST:]
    parts: dict[str, Any] = {
        "score": score,
        "constant": float(adds[-1]),
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
