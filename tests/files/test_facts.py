"""Facts in the cache."""

import pytest

from irplatform.files.facts import keep_fact, kept_fact, known_fact

pytestmark = pytest.mark.usefixtures("fresh_home")


def _refuse():
    raise AssertionError("the fact is known")


def test_a_fact_is_found_once():
    assert kept_fact("check", "demo", {"of": 1}, lambda: ["a", 0.1]) == ["a", 0.1]
    assert kept_fact("check", "demo", {"of": 1}, _refuse) == ["a", 0.1]
    assert kept_fact("check", "demo", {"of": 2}, lambda: None) is None


def test_a_fact_is_known_once_it_is_kept():
    assert known_fact("check", "demo", {"of": 1}) is None
    keep_fact("check", "demo", {"of": 1}, {"weight": 0.1})
    assert known_fact("check", "demo", {"of": 1}) == {"weight": 0.1}
