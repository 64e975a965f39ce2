"""Which treatments are added to a topic, and what is relevant then."""

import pytest

from irplatform.judgments.treatments.choice import Choice, choose
from irplatform.judgments.treatments.drugs import Drugs
from irplatform.plugin import Topic

TOPICS = [Topic("1", "first"), Topic("2", "second"), Topic("3", "never judged")]
ARTICLES = {
    "a": frozenset({"abc", "often"}),
    "b": frozenset({"abc", "often", "seldom"}),
    "c": frozenset({"xyz", "often"}),
    "d": frozenset({"xyz", "often"}),
    "e": frozenset[str](),
}
GRADES = {"a": 2, "b": 1, "c": 1, "d": 1, "e": 1, "f": 0, "g": -1, "unread": 1}
QRELS = {"1": GRADES, "2": GRADES}


def chosen(**limits):
    made = choose(TOPICS, QRELS, Drugs(ARTICLES, 9), Choice(**{"at_least": 2, **limits}))
    return [(each.source.id, each.drug) for each in made]


def test_a_drug_tells_articles_apart_and_those_that_were_not_used_come_first():
    assert chosen() == [("1", "abc"), ("1", "xyz"), ("2", "abc"), ("2", "xyz")]
    assert chosen(per_topic=1) == [("1", "abc"), ("2", "xyz")]
    assert chosen(per_topic=3, at_least=1)[:3] == [("1", "abc"), ("1", "xyz"), ("1", "seldom")]


def test_a_drug_that_the_query_names_is_not_added():
    topic = Topic("1", "ABC in melanoma")
    made = choose([topic], QRELS, Drugs(ARTICLES, 9), Choice(2, 2))
    assert [each.drug for each in made] == ["xyz"]


@pytest.mark.parametrize("at_least", [3, 5])
def test_a_drug_in_too_few_or_in_nearly_all_relevant_articles_is_none(at_least):
    assert chosen(at_least=at_least) == []


@pytest.mark.parametrize(("naming", "relevant"), [(7, 10), (63, 90), (119, 170)])
def test_seven_in_ten_is_not_too_many(naming, relevant):
    """Also where a binary fraction makes seven tenths a little less."""
    grades = {f"d{n}": 1 for n in range(relevant)}
    for more, expected in ((0, ["abc"]), (1, [])):
        of = {d: frozenset(["abc"][: n < naming + more]) for n, d in enumerate(grades)}
        made = choose(TOPICS[:1], {"1": grades}, Drugs(of, 9), Choice(2, 2))
        assert [each.drug for each in made] == expected


def test_what_does_not_name_the_drug_is_not_relevant():
    made = next(choose(TOPICS, QRELS, Drugs(ARTICLES, 9), Choice(1, 2)))
    assert made.grades == {"a": 2, "b": 1, "c": 0, "d": 0, "e": 0, "f": 0, "g": -1}
    assert made.relevant == 2
