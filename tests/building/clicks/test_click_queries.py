"""Simple keyword queries are kept; boolean, tagged and long ones are not."""

import pytest

from irplatform.building.click_judgments import QueryRules, mark, normalize, refusal
from irplatform.errors import InputError

PAPER = QueryRules()


@pytest.mark.parametrize(
    "query",
    [
        "cryoglobulinemia",
        "chronic headache and depression review",  # a test query of both papers
        "one two three four five six seven",
        "not otherwise specified",
        "[18F]FDG PET",
        "benzo[a]pyrene",
        "orexin receptor",
    ],
)
def test_a_simple_query_is_kept(query):
    assert refusal(query, PAPER) is None


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("", "no words"),
        ("  \u00a0 ", "no words"),
        ("one two three four five six seven eight", "too many words"),
        ("asthma AND children", "boolean operators"),
        ("(asthma)OR(copd)", "boolean operators"),
        ("asthma NOT adult", "boolean operators"),
        ("smith j[au]", "field tags"),
        ("smith j [Author]", "field tags"),
        ("asthma[MeSH Terms:noexp]", "field tags"),
        ("smith[1au]", "field tags"),
        ("2016[dp]", "field tags"),
    ],
)
def test_a_query_is_refused_for_a_reason(query, reason):
    assert refusal(query, PAPER) == reason


def test_each_filter_can_be_switched_off():
    assert refusal("a b c", QueryRules(max_words=2)) == "too many words"
    assert refusal("asthma AND copd", QueryRules(boolean=True)) is None
    assert refusal("smith j[au]", QueryRules(tags=True)) is None


def test_held_out_queries_are_refused_however_they_are_typed():
    rules = QueryRules(held_out=frozenset({mark("Lung cancer?"), mark("il-6")}))
    assert refusal(" Lung  CANCER", rules) == "held out"
    assert refusal("cancer, lung", rules) == "held out"
    assert refusal("ＩＬ 6", rules) == "held out"
    assert refusal("lung cancers", rules) is None


def test_queries_are_the_same_in_any_case_and_spacing():
    assert normalize("  Lung\tCancer\u00a0ＩＬ-6 ") == "lung cancer il-6"
    assert normalize(normalize("STRAẞE")) == normalize("STRAẞE")


def test_a_query_needs_at_least_one_word():
    with pytest.raises(InputError):
        QueryRules(max_words=0)
