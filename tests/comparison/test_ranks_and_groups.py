"""Rank intervals over systems, and groups of topics."""

import pytest

from irplatform.comparison.groups import group_topics
from irplatform.comparison.ranking import Rank, rank_intervals
from irplatform.data import Topic
from irplatform.errors import InputError


def values(*numbers):
    return {str(place): number for place, number in enumerate(numbers)}


def test_a_system_that_is_better_on_every_topic_is_always_first():
    ranks = rank_intervals({"low": values(0.1, 0.2, 0.3), "high": values(0.2, 0.3, 0.4)})
    assert ranks == {"low": Rank(2, 2, 2), "high": Rank(1, 1, 1)}


def test_systems_that_win_on_other_topics_may_change_ranks():
    ranks = rank_intervals({"a": values(1, 0, 1, 0, 1), "b": values(0, 1, 0, 1, 0)})
    assert ranks == {"a": Rank(1, 1, 2), "b": Rank(2, 1, 2)}


def test_equal_systems_share_the_better_rank():
    same = values(0.1, 0.2)
    assert rank_intervals({"a": same, "b": dict(same), "c": values(0, 0)}) == {
        "a": Rank(1, 1, 1),
        "b": Rank(1, 1, 1),
        "c": Rank(3, 3, 3),
    }


TOPICS = [
    Topic("1", "lung cancer", {"gene": ("ALK", "EGFR"), "disease": "lung"}),
    Topic("2", "lung cancer ALK", {"gene": "ALK", "disease": "lung"}),
    Topic("3", "glioma", {"gene": "", "disease": "brain"}),
    Topic("4", "a b c d e f", {"disease": "skin"}),
]


def test_groups_are_by_value_and_single_ones_together():
    assert group_topics(TOPICS, "disease") == {"lung": ["1", "2"], "others (2)": ["3", "4"]}
    assert group_topics(TOPICS, "gene") == {
        "ALK": ["1", "2"],
        "none": ["3", "4"],
        "others (1)": ["1"],
    }


def test_lengths_are_grouped_by_themselves_or_in_three_spans():
    assert group_topics(TOPICS[:3], "query-length") == {
        "1 word": ["3"],
        "2 words": ["1"],
        "3 words": ["2"],
    }
    assert list(group_topics(TOPICS, "query-length")) == ["1 word", "2 words", "3–6 words"]


def test_unknown_and_useless_fields_are_refused():
    with pytest.raises(InputError, match="Did you mean 'gene'"):
        group_topics(TOPICS, "genes")
    with pytest.raises(InputError, match="no two topics share a value of 'disease'"):
        group_topics(TOPICS[1:], "disease")
