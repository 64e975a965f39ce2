"""Kappa, alpha and AP correlation have the values of the libraries that people know them from."""

import runpy
import warnings
from importlib.metadata import PackageNotFoundError, distribution

import numpy as np
import pytest

from irplatform.evaluation.agreement.of_grades import (
    LEVELS,
    WEIGHTS,
    confusion,
    kappas,
    krippendorff_alpha,
)
from irplatform.evaluation.agreement.rank_correlation import tau_aps

TABLES = 1000


def table(random, judges):
    """Grades of some documents; some are missing, some judges copy one another, some are dull."""
    grades = [0, 1, 2, 3, 4][: random.integers(2, 6)]
    documents = int(random.integers(2, 40))
    first = random.choice(grades, documents)
    copies = random.random(judges)
    drawn = [
        np.where(random.random(documents) < c, first, random.choice(grades, documents))
        for c in copies
    ]
    missing = random.random((judges, documents)) < random.choice([0, 0.1, 0.5])
    rows = [
        [None if gone else int(grade) for gone, grade in zip(*pair, strict=True)]
        for pair in zip(missing, drawn, strict=True)
    ]
    return grades, rows


def pyircore():
    """The file alone: its package wants data from the network."""
    try:
        package = distribution("autojudge-evaluate")
    except PackageNotFoundError:
        pytest.skip("needs the package autojudge-evaluate")
    return runpy.run_path(str(package.locate_file("autojudge_evaluate/pyircore.py")))


def test_kappa_is_that_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(0)
    compared = 0
    for _ in range(TABLES):
        grades, (one, other) = table(random, 2)
        pairs = [(a, b) for a, b in zip(one, other, strict=True) if None not in (a, b)]
        if not pairs:
            continue
        table_of_both = confusion(*zip(*pairs, strict=True), grades)
        for weights in WEIGHTS:
            value = float(kappas(table_of_both, grades, weights))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scheme = None if weights == "none" else weights
                expected = metrics.cohen_kappa_score(
                    *zip(*pairs, strict=True), labels=grades, weights=scheme
                )
            assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)
            compared += not np.isnan(value)
    assert compared > 2 * TABLES


def test_alpha_is_that_of_krippendorff():
    library = pytest.importorskip("krippendorff", reason="needs the package krippendorff")
    random = np.random.default_rng(1)
    compared = 0
    for _ in range(TABLES):
        _, rows = table(random, int(random.integers(2, 6)))
        values = np.array(rows, dtype=np.float64)
        documents = [[g for g in column if g is not None] for column in zip(*rows, strict=True)]
        for level in LEVELS:
            value = krippendorff_alpha(documents, level)
            try:
                expected = library.alpha(values, level_of_measurement=level)
            except ValueError:  # it refuses grades that are all the same
                expected = np.nan
            if np.isnan(expected) or value is None:
                grades = {grade for column in documents if len(column) > 1 for grade in column}
                assert value is None and len(grades) < 2
                continue
            assert value == pytest.approx(expected, abs=1e-12)
            compared += 1
    assert compared > 2 * TABLES


def test_ap_correlation_is_that_of_pyircor():
    """Its copy in autojudge-evaluate; where nothing ties, its agreement is the symmetric form."""
    library = pyircore()
    random = np.random.default_rng(2)
    for _ in range(TABLES):
        systems = int(random.integers(2, 30))
        one, other = random.random((2, systems))
        other = one * random.choice([0, 1]) + other
        one, other = one[None], other[None]
        (value,) = (tau_aps(one, other) + tau_aps(other, one)) / 2
        assert value == pytest.approx(library["tauap_b"](one[0], other[0]), abs=1e-12)
