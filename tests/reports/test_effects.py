"""Differences from the first stage, with intervals and effect sizes."""

from irplatform.comparison.tests import Difference, compare_with
from irplatform.evaluation.scoring import Evaluation
from irplatform.reports.run_report import render_effects

COMPARISONS = {
    "delta": {
        "AP": Difference(0.0421, 0.001, 0.0123, 0.0719, 0.625, 40, 0.004),
        "RR": Difference(0.1, 0.00001, 0.05, 0.15, 1.2, 40, 0.00002),
    },
    "delta-alone": {
        "AP": Difference(-0.01, 0.4, -0.03, 0.01, -0.1, 40, 0.4),
        "RR": Difference(0.0, None, None, None, None, 40),
    },
}


def test_a_line_has_difference_interval_effect_size_and_corrected_p():
    assert render_effects(COMPARISONS, ["AP", "RR"], "bm25") == (
        "Differences from bm25 over 40 topics\n"
        "\n"
        "system   measure  difference       95 % interval      d        p\n"
        "----------------------------------------------------------------\n"
        "delta    AP          +0.0421  [+0.0123, +0.0719]  +0.62   0.0040\n"
        "         RR          +0.1000  [+0.0500, +0.1500]  +1.20  <0.0001\n"
        "  alone  AP          -0.0100  [-0.0300, +0.0100]  -0.10   0.4000\n"
        "         RR          +0.0000                   -      -        -\n"
        "d: difference in standard deviations of the differences; "
        "p: paired t-test, Holm's correction"
    )


def test_the_interval_is_students_and_the_effect_size_cohens_for_pairs():
    from scipy import stats

    one = {"1": 0.2, "2": 0.5, "3": 0.1, "4": 0.9}
    other = {"1": 0.4, "2": 0.5, "3": 0.6, "4": 1.0}
    differences = [other[topic] - one[topic] for topic in one]
    held = compare_with(Evaluation({}, {"AP": one}), {"x": Evaluation({}, {"AP": other})})["x"][
        "AP"
    ]
    test = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    told = held.as_json()
    assert [round(end, 12) for end in told["interval_95"]] == [
        *(round(test.low, 12), round(test.high, 12))
    ]
    deviation = stats.tstd(differences)
    assert round(told["effect_size"], 12) == round(sum(differences) / 4 / deviation, 12)
