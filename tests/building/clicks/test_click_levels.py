"""Weights and levels are those that the two Delta papers define and print."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.building.click_judgments import Weights, levels, round_levels, weighted_clicks
from irplatform.errors import InputError


def test_weighted_clicks_are_those_of_the_2017_paper():
    weighted = weighted_clicks([1, 1, 2], [0, 1, 0], [0, 0, 2], Weights())
    assert weighted == pytest.approx([0.33, 0.33 + 0.67, 2 * 0.33 + 2 / 15])


@pytest.mark.parametrize(
    ("total", "clicks", "printed"),
    [
        (66, [6, 3, 0], [10, 5.5, 0]),  # "chronic headache and depression review"
        (64.8, [7, 4, 3], [11.7, 7.1, 5.6]),  # "oesophageal cancer review"
    ],
)
def test_the_levels_of_2018_are_those_printed_for_the_counts_printed_in_2017(
    total, clicks, printed
):
    assert levels(clicks, total) == pytest.approx(printed, abs=0.05)


def test_a_query_whose_only_click_is_on_one_document_gives_it_the_highest_level():
    assert levels([5.0, 0.0], 5.0).tolist() == [100.0, 0.0]


def test_the_levels_of_2017_are_the_weights_and_binary_ones_tell_only_of_clicks():
    assert levels([2.5, 0.0], 10.0, "2017").tolist() == [2.5, 0.0]
    assert levels([2.5, 0.0], 10.0, "binary").tolist() == [1.0, 0.0]


def test_levels_keep_six_decimals_and_never_lose_a_relevant_document():
    assert round_levels([10.0, 5.5, 5.49, 0.33, 0.0]).tolist() == [10, 5.5, 5.49, 0.33, 0]
    assert round_levels([1 + 99 / 7]).tolist() == [15.142857]
    assert round_levels([3e6]).tolist() == [999_999], "as many digits as judgments have"
    assert round_levels([np.nextafter(5.5, 0)]).tolist() == [5.5], "binary fractions do not decide"
    assert round_levels([1e-9]).tolist() == [1e-6]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=40).filter(any))
def test_levels_of_2018_lie_between_1_and_100_in_the_order_of_the_clicks(clicks):
    grades = round_levels(levels(clicks, sum(clicks)))
    assert all((grade == 0) == (count == 0) for grade, count in zip(grades, clicks, strict=True))
    assert grades.max() <= 100
    order = np.argsort(clicks, kind="stable")
    assert (np.diff(grades[order]) >= 0).all()


@pytest.mark.parametrize("wrong", [{"mu": -0.1}, {"mu": 1.5}, {"lambda_": 0.0}, {"mu": np.nan}])
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InputError):
        Weights(**wrong)
