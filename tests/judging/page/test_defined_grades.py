"""Grades and what they mean: given, of last time, or the collection's."""

from types import SimpleNamespace

import pytest

from irplatform.errors import InputError
from irplatform.judging.judgments import Source
from irplatform.judging.page.opening import chosen_grades, read_grades
from irplatform.judging.store import Store

DEFINED = SimpleNamespace(id="c", grades={0: "no", 1: "yes", 2: "very"})
UNDEFINED = SimpleNamespace(id="c", grades={})


def test_definitions_may_have_commas_and_signs():
    assert read_grades("-1=junk,0=no, or hardly,1= a = b") == {
        -1: "junk",
        0: "no, or hardly",
        1: "a = b",
    }


@pytest.mark.parametrize("text", ["", "0=no", "no,yes", "0=no,0=yes", "0=,1=yes", "0,1=yes"])
def test_what_defines_no_grades_is_refused(text):
    with pytest.raises(InputError, match="grades"):
        read_grades(text)


def test_more_than_ten_have_no_keys():
    with pytest.raises(InputError, match="2 to 10"):
        read_grades(",".join(f"{n}=g{n}" for n in range(11)))


def test_grades_are_those_given_then_those_of_last_time_then_the_collections(tmp_path):
    with Store.open(tmp_path, "p1") as store:
        with pytest.raises(InputError, match="'c' does not define its grades"):
            chosen_grades(None, store, UNDEFINED)
        assert chosen_grades(None, store, DEFINED) == DEFINED.grades
        assert chosen_grades("0=off,1=on", store, DEFINED) == {0: "off", 1: "on"}
        assert chosen_grades(None, store, UNDEFINED) == {0: "off", 1: "on"}


def test_a_grade_that_documents_have_stays_defined(tmp_path):
    with Store.open(tmp_path, "p1") as store:
        store.judge("t1", "d1", Source("person", "ann"), 2, request="click-01")
        with pytest.raises(InputError, match="have been given 2"):
            chosen_grades("0=off,1=on", store, DEFINED)
