"""Measures of graded relevance: nDCG-exp, AP-graded, and what decimals mean to the others."""

from collections import Counter

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irplatform.errors import InputError
from irplatform.evaluation.measure_names import parse_measures
from irplatform.evaluation.scoring import evaluate
from irplatform.runs import Ranking, Run

GRADES = st.lists(st.integers(0, 4), min_size=1, max_size=30)


def ranked(doc_ids):
    return Run("x", {"q": Ranking.of(doc_ids, range(len(doc_ids), 0, -1))})


def value(measure, grades, judged=()):
    """A measure of a ranking with these grades, best rank first; `judged` was not found."""
    ids = [f"d{number}" for number in range(len(grades))]
    others = [f"e{number}" for number in range(len(judged))]
    qrels = {"q": dict(zip([*ids, *others], [*grades, *judged], strict=True))}
    return evaluate(qrels, ranked(ids), [measure]).aggregate[measure]


@settings(max_examples=25)
@given(grades=GRADES, others=GRADES, cutoff=st.integers(1, 25))
def test_exponential_ndcg_is_trec_evals_with_these_gains(grades, others, cutoff):
    (name,) = parse_measures([f"nDCG(gains={{0: 0, 1: 1, 2: 3, 3: 7, 4: 15}})@{cutoff}"])
    expected = value(name, grades, others)
    assert value(f"nDCG-exp@{cutoff}", grades, others) == pytest.approx(expected, abs=1e-9)


def test_exponential_ndcg_is_that_of_ir_measures():
    grades = [0, 3, 1, -1, 2, 4]
    qrels = {"1": {f"d{number}": grade for number, grade in enumerate(grades)}}
    scores = {"1": {f"d{number}": -number for number in range(len(grades))}}
    measure = ir_measures.parse_measure("nDCG(dcg='exp-log2')@5")
    expected = ir_measures.calc_aggregate([measure], qrels, scores)[measure]
    assert value("nDCG-exp@5", grades) == pytest.approx(expected, abs=5e-6), "it has five digits"


def test_a_gain_is_exact_up_to_level_100_and_nothing_overflows():
    discount = 0.6309297535714575  # 1 / log2(3)
    for level in (1, 2, 52, 53, 99.5, 100):
        gain = 2.0**level - 1
        expected = (1 + gain * discount) / (gain + discount)
        assert value("nDCG-exp@20", [1.0, float(level)]) == expected
    assert value("nDCG-exp@20", [999_998, 999_999]) == pytest.approx(
        (1 + 2 * discount) / (2 + discount)
    )


def test_the_names_are_understood_and_printed_alike():
    names = ["nDCG-exp@20", "nDCG(dcg='exp-log2')@20", "nDCG-exp", "AP-graded", "AP-graded@010"]
    assert list(parse_measures(names)) == ["nDCG-exp@20", "nDCG-exp", "AP-graded", "AP-graded@10"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ndcg-exp@20", "Did you mean 'nDCG-exp'?"),
        ("nDCG-exp@0", "the measure 'nDCG-exp@0' takes only a cutoff, as in 'nDCG-exp@20'."),
        ("AP-graded(rel=2)", "takes only a cutoff, as in 'AP-graded@20'."),
    ],
)
def test_other_forms_are_refused(name, words):
    with pytest.raises(InputError) as caught:
        parse_measures([name])
    assert words in str(caught.value)


def test_graded_average_precision_is_graphenes():
    """Section 5.2.2: precision at each rank, weighted by the document's relevance, per relevant.

    Grades by rank: 2, 0, 1, and a document of grade 1 that is not found. Precision is 1/1 at rank 1
    and 2/3 at rank 3; three documents are relevant: (1·2 + 2/3·1 + 0) / 3 = 8/9. Binary average
    precision is (1 + 2/3) / 3 = 5/9.
    """
    assert value("AP-graded", [2, 0, 1], [1]) == pytest.approx(8 / 9)
    assert value("AP", [2, 0, 1], [1]) == pytest.approx(5 / 9)
    assert value("AP-graded@2", [2, 0, 1], [1]) == pytest.approx(2 / 3)
    assert value("AP-graded", [2, 2]) == 2, "it is no share: the grade is a factor"
    assert value("AP-graded", [0, -1]) == 0


def test_a_topic_without_results_counts_as_0():
    result = evaluate({"q": {"a": 1}, "r": {"b": 2.5}}, ranked(["a"]), ["nDCG-exp@20", "AP-graded"])
    assert result.aggregate == {"nDCG-exp@20": 0.5, "AP-graded": 0.5}
    assert result.per_topic["AP-graded"] == {"q": 1.0, "r": 0.0}


LEVELS = {"q": {"a": 0.4, "b": 0.0, "c": 2.9, "d": 1.5}}


def test_decimals_count_in_full_for_gains_and_as_thresholds_for_the_rest():
    names = ["nDCG@2", "nDCG", "AP-graded", "AP", "P(rel=2)@4", "R(rel=3)@4", "NumRel", "Judged@4"]
    means = evaluate(LEVELS, ranked(["b", "a", "c", "d"]), [*names, "Accuracy", "RR"]).aggregate
    discount = 0.6309297535714575  # 1 / log2(3)
    assert means["nDCG@2"] == pytest.approx(0.4 * discount / (2.9 + 1.5 * discount))
    assert means["nDCG"] == pytest.approx(
        (0.4 * discount + 2.9 / 2 + 1.5 * 0.43067655807339306) / (2.9 + 1.5 * discount + 0.4 / 2)
    )
    assert means["AP-graded"] == pytest.approx((0.4 / 2 + 2.9 * 2 / 3 + 1.5 * 3 / 4) / 3)
    assert means["AP"] == pytest.approx((1 / 2 + 2 / 3 + 3 / 4) / 3), "0.4 is above 0"
    assert means["P(rel=2)@4"] == 1 / 4
    assert means["R(rel=3)@4"] == 0, "2.9 is below 3"
    assert (means["NumRel"], means["Judged@4"]) == (3, 1)
    assert (means["Accuracy"], means["RR"]) == (0, 0.5)


@pytest.mark.parametrize("name", ["ERR@10", "Compat", "nDCG(gains={1: 5})@10"])
def test_a_measure_that_computes_with_whole_grades_refuses_decimals(name):
    (name,) = parse_measures([name])
    with pytest.raises(InputError) as refused:
        evaluate(LEVELS, ranked(["a"]), ["AP", name])
    assert str(refused.value).startswith(f"{name} takes whole grades; the judgments have decimals.")
    evaluate({"q": {"a": 1.0, "b": 0.0}}, ranked(["a"]), [name])


PRINTED = {
    # query: relevant and other documents in the test data, the highest levels, and for each ranker
    # NDCG.20 with the levels of its first seven documents
    "countermovement jump": (
        (17, 16),
        [21.5, 18.1, 11.2, 7.8, 4.4],
        {
            "Delta": (0.98, [21.5, 11.2, 4.4, 4.4, 0, 18.1, 4.4]),
            "SevMos": (0.32, [11.2, 0, 4.4, 0, 4.4, 0, 21.5]),
            "WMD": (0.5, [11.2, 0, 21.5, 4.4, 0, 0, 0]),
        },
    ),
    "oesophageal cancer review": (
        (22, 28),
        [11.7, 7.1, 7.1, 7.1, 7.1],
        {
            "Delta": (0.94, [11.7, 0, 0, 5.6, 5.6, 0, 7.1]),
            "SevMos": (0.05, [5.6, 2.5, 0, 0, 0, 5.6, 0]),
            "WMD": (0.05, [5.6, 7.1, 0, 0, 0, 5.6, 0]),
        },
    ),
    "chronic headache and depression review": (
        (23, 18),
        [10, 5.5, 5.5, 5.5, 5.5],
        {
            "Delta": (0.4, [5.5, 0, 0, 0, 10, 5.5, 5.5]),
            "SevMos": (0.3, [5.5, 2.7, 0, 5.5, 2.5, 5.5, 0]),
            "WMD": (0.35, [5.5, 5.5, 5.5, 5.5, 0, 0, 0]),
        },
    ),
}
"""Section 5.4 of Mohan et al., WWW 2018."""


def bounds(measure, query, printed):
    """The least and the most that a ranking can have, whatever the levels that are not printed.

    What is not printed lies between 1, the least of a relevant document, and the fifth level. For
    ranks in a given order of levels the measure is a quotient of linear functions of the gains, so
    that its extremes have some of these documents at one end and the rest at the other.
    """
    (relevant, others), highest, rankers = PRINTED[query]
    counts = Counter(highest)
    for _, levels in rankers.values():
        counts |= Counter(level for level in levels if level)
    remainder = list((counts - Counter(printed)).elements())
    zeros = [0.0] * (others - printed.count(0))
    values = []
    for high in range((free := relevant - counts.total()) + 1):
        tail = sorted([*remainder, *[highest[-1]] * high, *[1.0] * (free - high)])
        for order in ([*printed, *reversed(tail), *zeros], [*printed, *zeros, *tail]):
            values += [value(measure, list(map(float, order)))]
    return min(values), max(values)


def fits(measure, query, ranker):
    paper, printed = PRINTED[query][2][ranker]
    least, most = bounds(measure, query, printed)
    return least - 0.005 <= paper <= most + 0.005  # two digits are printed


def test_the_rankings_that_the_paper_prints_have_exponential_gains():
    """Five of nine printed NDCG.20 are impossible with linear gains; with 2^level - 1 all fit."""
    rankings = [(query, ranker) for query in PRINTED for ranker in PRINTED[query][2]]
    assert all(fits("nDCG-exp@20", *ranking) for ranking in rankings)
    assert [ranking for ranking in rankings if not fits("nDCG@20", *ranking)] == [
        ("countermovement jump", "Delta"),
        ("countermovement jump", "SevMos"),
        ("oesophageal cancer review", "Delta"),
        ("oesophageal cancer review", "SevMos"),
        ("oesophageal cancer review", "WMD"),
    ]


def test_the_bounds_of_the_first_printed_ranking():
    printed = PRINTED["countermovement jump"][2]["Delta"][1]
    assert bounds("nDCG@20", "countermovement jump", printed) == pytest.approx(
        (0.693, 0.933), abs=0.0005
    )
    assert bounds("nDCG-exp@20", "countermovement jump", printed) == pytest.approx(
        (0.976, 0.976), abs=0.0005
    )
