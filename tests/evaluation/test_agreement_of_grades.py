"""Confusion tables, weighted kappa and Krippendorff's alpha."""

from itertools import combinations

import numpy as np
import pytest

from irplatform.errors import InputError
from irplatform.evaluation.agreement.of_grades import (
    LEVELS,
    WEIGHTS,
    alphas,
    coincidences,
    confusion,
    kappas,
    krippendorff_alpha,
    weighted_kappa,
)

MISSING = None
KRIPPENDORFF = [  # Krippendorff, "Computing Krippendorff's alpha-reliability", 2011, part C
    [1, 1, MISSING, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [MISSING, 5, 5, 5],
    [MISSING, MISSING, 1, 1],
    [MISSING, MISSING, 3, MISSING],
]


def plain_alpha(documents, level):
    """Alpha from every pair of grades, as its definition has it."""
    units = [[g for g in each if g is not None] for each in documents]
    units = [unit for unit in units if len(unit) > 1]
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


def plain_kappa(first, second, grades, weights):
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if None not in (a, b)]
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]

    def weight(one, other):
        return abs(grades.index(one) - grades.index(other)) ** power if one != other else 0

    observed = sum(weight(*pair) for pair in pairs) / len(pairs)
    expected = sum(weight(a, b) for a, _ in pairs for _, b in pairs) / len(pairs) ** 2
    return 1 - observed / expected


def judged(random, judges, documents=40, grades=(0, 1, 2, 4)):
    """Grades that agree more than by chance, some of them missing."""
    true = random.choice(grades, documents)
    return [
        [
            None if random.random() < 0.2 else int(t if random.random() < 0.6 else r)
            for t, r in zip(true, random.choice(grades, documents), strict=True)
        ]
        for _ in range(judges)
    ]


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_that_of_krippendorffs_own_example(level, alpha):
    assert krippendorff_alpha(KRIPPENDORFF, level) == pytest.approx(alpha, abs=0.0005)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_that_of_its_definition(level):
    random = np.random.default_rng(1)
    for judges in (2, 3, 5):
        documents = [*zip(*judged(random, judges), strict=True)]
        assert krippendorff_alpha(documents, level) == pytest.approx(plain_alpha(documents, level))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_is_that_of_its_definition(weights):
    random = np.random.default_rng(2)
    for _ in range(20):
        one, other = judged(random, 2)
        expected = plain_kappa(one, other, (0, 1, 2, 4), weights)
        assert weighted_kappa(one, other, (0, 1, 2, 4), weights) == pytest.approx(expected)


@pytest.mark.parametrize("level", LEVELS)
def test_documents_that_one_person_alone_judged_do_not_count_for_alpha(level):
    alone = [[9, None, None], [None, None, 0], [None, None, None]]
    documents = [[0, 0, 1], [1, 1, None], [2, 2, 2]]
    assert krippendorff_alpha(documents + alone, level) == krippendorff_alpha(documents, level)


def test_the_levels_differ_where_grades_leave_gaps():
    """Ordinal is not interval under another name."""
    documents = [[0, 0], [0, 4], [4, 4], [1, 1], [1, 1], [0, 1]]
    values = {krippendorff_alpha(documents, level) for level in LEVELS}
    assert len(values) == 3


def test_a_missing_grade_is_no_category():
    one, other = [0, 1, 2, None, 1], [0, 1, 1, 2, None]
    assert weighted_kappa(one, other, [0, 1, 2]) == weighted_kappa([0, 1, 2], [0, 1, 1], [0, 1, 2])


def test_a_named_grade_that_nobody_gave_widens_the_distance():
    """The steps are among the named grades: 0 and 4 are neighbours only if no other is named."""
    one, other = [0, 0, 1, 4, 4, 1], [0, 1, 1, 4, 1, 0]
    assert weighted_kappa(one, other, [0, 1, 4]) != weighted_kappa(one, other, [0, 1, 2, 3, 4])


def test_a_grade_that_is_not_named_is_refused():
    with pytest.raises(InputError, match="the grade 3 is none of those named: 0, 1, 2"):
        weighted_kappa([0, 3], [0, 1], [0, 1, 2])
    with pytest.raises(InputError, match="in ascending order"):
        confusion([0], [0], [1, 0])


@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_of_judges_that_give_all_documents_one_grade_has_no_value(weights):
    assert weighted_kappa([1, 1], [1, 1], [0, 1], weights) is None
    assert weighted_kappa([None], [1], [0, 1], weights) is None


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_without_a_difference_to_expect_has_no_value(level):
    assert krippendorff_alpha([[1, 1], [1, 1]], level) is None
    assert krippendorff_alpha([[1, None]], level) is None
    assert krippendorff_alpha([], level) is None


def test_a_constant_judge_agrees_no_more_than_chance():
    assert weighted_kappa([0, 1, 2, 0], [1, 1, 1, 1], [0, 1, 2], "none") == 0.0


def test_documents_and_judges_in_any_order_give_the_same():
    random = np.random.default_rng(3)
    one, other = judged(random, 2)
    order = random.permutation(len(one))
    shuffled = [[judge[place] for place in order] for judge in (one, other)]
    for weights in WEIGHTS:
        found = weighted_kappa(one, other, (0, 1, 2, 4), weights)
        assert weighted_kappa(*shuffled, (0, 1, 2, 4), weights) == pytest.approx(found)
        assert weighted_kappa(other, one, (0, 1, 2, 4), weights) == pytest.approx(found)


def test_tables_of_topics_add_up():
    random = np.random.default_rng(4)
    grades = [0, 1, 2, 4]
    one, other = judged(random, 2)
    parts = [confusion(one[:25], other[:25], grades), confusion(one[25:], other[25:], grades)]
    whole = confusion(one, other, grades)
    assert (sum(parts) == whole).all()
    assert (whole + whole.T == coincidences(zip(one, other, strict=True), grades)).all()
    many = np.stack([*parts, whole])
    for weights in WEIGHTS:
        assert kappas(many, weights).tolist() == [float(kappas(t, weights)) for t in many]
    for level in LEVELS:
        assert alphas(many, grades, level).tolist() == [
            float(alphas(t, grades, level)) for t in many
        ]
