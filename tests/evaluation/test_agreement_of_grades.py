"""Confusion tables, weighted kappa and Krippendorff's alpha."""

from itertools import combinations

import numpy as np
import pytest

from irplatform.evaluation.agreement.of_grades import (
    LEVELS,
    WEIGHTS,
    alphas,
    confusion,
    kappas,
    krippendorff_alpha,
)

KRIPPENDORFF = [  # Krippendorff, "Computing Krippendorff's alpha-reliability", 2011, part C
    [1, 1, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [5, 5, 5],
    [1, 1],
    [3],
]
GRADES = [0, 1, 2, 4]


def kappa(first, second, grades, weights="linear"):
    return float(kappas(confusion(first, second, grades), grades, weights))


def plain_alpha(documents, level):
    """Alpha from every pair of grades, as its definition has it."""
    units = [unit for unit in documents if len(unit) > 1]
    values = [grade for unit in units for grade in unit]

    def distance(one, other):
        if level == "nominal":
            return float(one != other)
        if level == "interval":
            return float((one - other) ** 2)
        low, high = sorted((one, other))
        between = sum(low <= value <= high for value in values)
        return (between - (values.count(one) + values.count(other)) / 2) ** 2 * (one != other)

    observed = sum(
        2 * distance(*pair) / (len(unit) - 1) for unit in units for pair in combinations(unit, 2)
    ) / len(values)
    expected = sum(2 * distance(*pair) for pair in combinations(values, 2))
    return 1 - observed * len(values) * (len(values) - 1) / expected


def plain_kappa(first, second, weights):
    pairs = [*zip(first, second, strict=True)]
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]

    def weight(one, other):
        return abs(one - other) ** power if one != other else 0

    observed = sum(weight(*pair) for pair in pairs) / len(pairs)
    expected = sum(weight(a, b) for a, _ in pairs for _, b in pairs) / len(pairs) ** 2
    return 1 - observed / expected


def judged(random, judges, documents=40):
    """Grades of judges that agree more than by chance."""
    true = random.choice(GRADES, documents)
    return [
        [
            int(t if random.random() < 0.6 else r)
            for t, r in zip(true, random.choice(GRADES, documents), strict=True)
        ]
        for _ in range(judges)
    ]


def partly(random, rows):
    """Documents with the grades of some of the judges."""
    return [[g for g in grades if random.random() > 0.2] for grades in zip(*rows, strict=True)]


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_that_of_krippendorffs_own_example(level, alpha):
    assert krippendorff_alpha(KRIPPENDORFF, level) == pytest.approx(alpha, abs=0.0005)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_that_of_its_definition(level):
    random = np.random.default_rng(1)
    for judges in (2, 3, 5):
        documents = partly(random, judged(random, judges))
        assert krippendorff_alpha(documents, level) == pytest.approx(plain_alpha(documents, level))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_is_that_of_its_definition(weights):
    random = np.random.default_rng(2)
    for _ in range(20):
        one, other = judged(random, 2)
        expected = plain_kappa(one, other, weights)
        assert kappa(one, other, GRADES, weights) == pytest.approx(expected)


@pytest.mark.parametrize("level", LEVELS)
def test_documents_that_one_person_alone_judged_do_not_count_for_alpha(level):
    alone = [[9], [0], []]
    documents = [[0, 0, 1], [1, 1], [2, 2, 2]]
    assert krippendorff_alpha(documents + alone, level) == krippendorff_alpha(documents, level)


def test_the_levels_differ_where_grades_leave_gaps():
    """Ordinal is not interval under another name."""
    documents = [[0, 0], [0, 4], [4, 4], [1, 1], [1, 1], [0, 1]]
    values = {krippendorff_alpha(documents, level) for level in LEVELS}
    assert len(values) == 3


@pytest.mark.parametrize("weights", WEIGHTS)
def test_distances_are_those_of_the_grades_whether_others_occur_or_not(weights):
    one, other = [0, 0, 1, 4, 4, 1], [0, 1, 1, 4, 1, 0]
    expected = kappa(one, other, [0, 1, 2, 3, 4], weights)
    assert kappa(one, other, [0, 1, 4], weights) == pytest.approx(expected)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_of_judges_that_give_all_documents_one_grade_has_no_value(weights):
    assert np.isnan(kappa([1, 1], [1, 1], [0, 1], weights))


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_without_a_difference_to_expect_has_no_value(level):
    assert krippendorff_alpha([[1, 1], [1, 1]], level) is None
    assert krippendorff_alpha([[1]], level) is None
    assert krippendorff_alpha([], level) is None


def test_a_constant_judge_agrees_no_more_than_chance():
    assert kappa([0, 1, 2, 0], [1, 1, 1, 1], [0, 1, 2], "none") == 0.0


def test_documents_and_judges_in_any_order_give_the_same():
    random = np.random.default_rng(3)
    one, other = judged(random, 2)
    order = random.permutation(len(one))
    shuffled = [[judge[place] for place in order] for judge in (one, other)]
    for weights in WEIGHTS:
        expected = kappa(one, other, GRADES, weights)
        assert kappa(*shuffled, GRADES, weights) == pytest.approx(expected)
        assert kappa(other, one, GRADES, weights) == pytest.approx(expected)


def test_tables_of_topics_add_up():
    random = np.random.default_rng(4)
    one, other = judged(random, 2)
    parts = [confusion(one[:25], other[:25], GRADES), confusion(one[25:], other[25:], GRADES)]
    total = confusion(one, other, GRADES)
    assert (sum(parts) == total).all()
    many = np.stack([*parts, total])
    for weights in WEIGHTS:
        separate = [float(kappas(table, GRADES, weights)) for table in many]
        assert kappas(many, GRADES, weights).tolist() == separate
    for level in LEVELS:
        separate = [float(alphas(table, GRADES, level)) for table in many]
        assert alphas(many, GRADES, level).tolist() == separate


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_two_judges_is_that_of_their_table(level):
    one, other = judged(np.random.default_rng(5), 2)
    table = confusion(one, other, GRADES)
    alpha = krippendorff_alpha([*zip(one, other, strict=True)], level)
    assert float(alphas(table + table.T, GRADES, level)) == pytest.approx(alpha)
