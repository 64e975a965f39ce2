"""Where a comparison hangs on judgments of machines, it says so."""

from dataclasses import replace

import pytest

from irplatform.comparison.compare import compare
from irplatform.comparison.sentences import sentences
from irplatform.evaluation.judgments import Judgments
from irplatform.runs import Ranking, Run

TOPICS = [f"t{n}" for n in range(12)]


def run(name, *documents):
    scores = [float(-n) for n, _ in enumerate(documents)]
    return Run(name, {topic: Ranking.of(documents, scores) for topic in TOPICS})


RUNS = {"one": run("one", "a", "b", "c"), "other": run("other", "b", "a", "c")}


def judgments(people, machine):
    """By topic number: document to grade, of people and of a machine."""
    of_people = {topic: people(n) for n, topic in enumerate(TOPICS)}
    of_machine = {topic: machine(n) for n, topic in enumerate(TOPICS)}
    merged = {t: {**of_machine[t], **of_people[t]} for t in TOPICS}
    marked = {t: frozenset(of_machine[t].keys() - of_people[t].keys()) for t in TOPICS}
    alone = Judgments({t: grades for t, grades in of_people.items() if grades}, None, ["RR"])
    return Judgments(merged, None, ["RR"], marked, alone)


def pair_of(judged, **more):
    (pair,) = compare(judged, RUNS, **more).pairs
    return pair


def test_what_people_say_too_does_not_hang_on_machines():
    judged = judgments(lambda _: {"b": 1, "a": 0}, lambda _: {"c": 0})
    pair = pair_of(judged)
    assert (pair.verdict, pair.people.n, pair.depends_on) == ("better", 12, ())


def test_a_verdict_that_people_alone_do_not_give_hangs_on_machines():
    judged = judgments(lambda n: {"b": n % 2, "a": 1 - n % 2} if n < 2 else {}, lambda _: {"b": 1})
    pair = pair_of(judged)
    assert pair.verdict == "better"
    assert "machines" in pair.depends_on
    assert pair.sentence.endswith(
        "This hangs on judgments of machines: by people's alone, on 2 topics, the difference is "
        "+0.0000, which may be chance."
    )


def test_an_order_that_people_turn_round_hangs_on_machines():
    """Neither way is more than chance, but the order differs."""
    judged = judgments(
        lambda n: {"b": n % 2, "a": 1 - n % 2} if n < 3 else {},
        lambda n: {"b": n % 3 > 0, "a": n % 3 == 0},
    )
    pair = pair_of(judged)
    assert pair.verdict == "unclear"
    assert pair.people.difference < 0 < pair.difference
    assert (
        "by people's alone, on 3 topics, the order is the other way: the difference is -0.1667"
        in pair.sentence
    )


def test_the_verdict_of_people_is_what_they_alone_give():
    judged = judgments(lambda _: {"a": 1}, lambda n: {"b": 2 if n else 0})
    alone = pair_of(judged.people)
    people = pair_of(judged).people
    assert (people.difference, people.p_value) == (alone.difference, alone.p)
    assert pair_of(judged).as_json()["by_people"] == {**people.as_json(), "topics": 12}


def test_without_machines_nothing_is_said_of_them():
    comparison = compare(judgments(lambda _: {"a": 1}, lambda _: {}).people, RUNS)
    content = comparison.as_json()
    assert "by_people" not in content["pairs"][0]
    assert "machine_judged" not in content["systems"][0]["measures"]["RR"]
    assert not any("machine" in text for text in sentences(comparison, "RR"))


@pytest.mark.parametrize(("measure", "count"), [("P@2", 14 / 12), ("RR", 15 / 12)])
def test_machine_judgments_among_the_first_documents_are_counted(measure, count):
    judged = judgments(lambda _: {"x": 1}, lambda _: {"a": 1, "b": 0, "c": 1})
    machine = {t: frozenset("a") for t in TOPICS} | {"t0": frozenset("abc"), "t1": frozenset("ab")}
    judged = replace(judged, machine=machine, measures=[measure])
    assert compare(judged, RUNS).systems[0].scores[measure].machine == pytest.approx(count)


def test_of_several_systems_it_says_what_people_alone_decide():
    runs = {**RUNS, "third": run("third", "d", "b", "a", "c")}
    judged = judgments(
        lambda n: {"a": 1, "b": 0, "d": n % 2} if n < 8 else {},
        lambda n: {"a": 0, "b": 1, "d": 1} if n > 7 else {},
    )
    (sentence, *_) = sentences(compare(judged, runs, baseline="one"), "RR")
    assert "are not shown to differ from one" in sentence
    assert sentence.endswith(
        " By people's judgments alone it is worse for other (-0.5000) and worse for third "
        "(-0.3333)."
    )


def test_an_order_that_may_be_chance_both_ways_is_no_verdict():
    runs = {**RUNS, "third": run("third", "b", "c", "a")}
    judged = judgments(
        lambda n: {"a": n < 5, "b": n >= 5} if n < 9 else {},
        lambda n: {"a": 0, "b": 1} if n > 8 else {},
    )
    (sentence, *_) = sentences(compare(judged, runs, baseline="one"), "RR")
    assert sentence.endswith(
        " By people's alone the order is the other way for other (-0.0556) and third (-0.1481), "
        "which may be chance, too."
    )
