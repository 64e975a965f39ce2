"""What features add to a score is listed by group and by size, and adds up."""

import numpy as np
import pytest

from irplatform.features.groups import LARGEST, contributions


def test_groups_and_features_are_listed_the_largest_first():
    groups = [("a.x", "a.y"), tuple(f"b.{n}" for n in range(LARGEST))]
    adds = np.array([0.1, -5.0, *np.linspace(1, 2, LARGEST)])
    values = np.arange(LARGEST + 2, dtype=np.float32)
    parts = contributions(groups, values, adds)
    assert [(g["group"], g["features"]) for g in parts["groups"]] == [("a", 2), ("b", LARGEST)]
    assert parts["features"][0] == {"feature": "a.y", "value": 1.0, "adds": -5.0}
    assert len(parts["features"]) == LARGEST
    assert parts["other_features"]["features"] == 2
    amounts = [f["adds"] for f in parts["features"]] + [parts["other_features"]["adds"]]
    assert sum(amounts) == pytest.approx(adds.sum())
    assert sum(g["adds"] for g in parts["groups"]) == pytest.approx(adds.sum())


def test_few_features_leave_no_others():
    parts = contributions([("a.x",)], np.ones(1, np.float32), np.array([2.0]))
    assert "other_features" not in parts
