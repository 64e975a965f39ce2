"""Thresholds of scores: the plain form tries all."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from irplatform_judges.crossencoder import fitted_thresholds


def thresholds_of(scores, grades, levels):
    return [threshold for threshold, _ in fitted_thresholds(scores, grades, levels)]


def graded(scores, thresholds, levels):
    return [levels[sum(score >= threshold for threshold in thresholds)] for score in scores]


def test_scores_that_separate_grades_are_cut_between_them():
    scores, grades = np.array([0.1, 0.2, 0.5, 0.9, 1.1]), np.array([0, 0, 1, 2, 2])
    assert thresholds_of(scores, grades, [0, 1, 2]) == pytest.approx([0.35, 0.7])


def test_a_grade_that_no_document_has_is_never_given():
    thresholds = thresholds_of(np.array([0.0, 1.0]), np.array([0, 1]), [0, 1, 2])
    assert thresholds == [0.5, np.inf]
    assert graded([9.0], thresholds, [0, 1, 2]) == [1]


@pytest.mark.parametrize("seed", range(20))
def test_the_threshold_of_the_highest_grade_has_the_best_kappa_of_all(seed):
    generator = np.random.default_rng(seed)
    scores = generator.integers(0, 12, 40) / 4
    grades = np.clip(np.round(scores / 1.5 + generator.normal(0, 0.7, 40)), 0, 2).astype(int)
    (low, _), (high, agreement) = fitted_thresholds(scores, grades, [0, 1, 2])
    reached = grades >= 2

    def kappa(threshold):
        value = cohen_kappa_score(reached, scores >= threshold)
        return 0.0 if np.isnan(value) else value

    best = max(kappa(score) for score in np.unique(scores))
    assert kappa(high) == pytest.approx(best)
    assert agreement == pytest.approx(best)
    assert low <= high


def test_documents_of_one_score_get_one_grade():
    scores, grades = np.array([1.0, 1.0, 1.0, 0.0]), np.array([1, 0, 1, 0])
    thresholds = thresholds_of(scores, grades, [0, 1])
    assert graded(scores, thresholds, [0, 1]) == [1, 1, 1, 0]


def test_scores_that_differ_by_rounding_alone_get_one_grade():
    scores, grades = np.array([3.0, 1.000003, 1.0, 0.0]), np.array([1, 1, 0, 0])
    assert thresholds_of(scores, grades, [0, 1]) == pytest.approx([2.0])
