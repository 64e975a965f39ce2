"""A judge measured against people: what counts, what it says, and how sure that is."""

import numpy as np
import pytest
from sourced_judgments import ANN, BOB, BOSS, LLM, judged

from irplatform.errors import InputError
from irplatform.evaluation.agreement.of_grades import krippendorff_alpha, weighted_kappa
from irplatform.judging.agreement.judge import judge_agreement
from irplatform.judging.agreement.tables import render
from irplatform.judging.judgments import Source
from irplatform.judging.sources import Gathered
from irplatform.runs import Ranking, Run

FITTED = Source("machine", "ce", "v1 fitted-on:t0,t1")
DOCUMENTS = [f"d{n}" for n in range(20)]


def of_people(topics=8, seed=0, source=ANN):
    random = np.random.default_rng(seed)
    return [
        judgment
        for n in range(topics)
        for judgment in judged(
            source, f"t{n}", dict(zip(DOCUMENTS, random.integers(0, 3, 20).tolist(), strict=True))
        )
    ]


def copied(judgments, source, wrong=0.2, seed=1):
    """The same grades by another source, some of them drawn anew."""
    random = np.random.default_rng(seed)
    return [
        judged(source, j.topic, {j.document: j.grade if random.random() > wrong else
                                 int(random.integers(0, 3))})[0]
        for j in judgments
    ]  # fmt: skip


def agreed(*judgments, runs=(), **more):
    gathered = Gathered([j for listed in judgments for j in listed], name="j.jsonl")
    runs = {run.name: run for run in runs}
    return judge_agreement(gathered, runs, "nDCG@5", **{"samples": 500, **more})


PEOPLE = of_people()
MACHINE = copied(PEOPLE, LLM)


def run(name, seed, topics=8):
    random = np.random.default_rng(seed)
    rankings = {
        f"t{n}": Ranking.of(random.permutation(DOCUMENTS).tolist(), np.arange(20.0, 0, -1))
        for n in range(topics)
    }
    return Run(name, rankings)


RUNS = [run(name, seed) for seed, name in enumerate(("a", "b", "c", "d"))]


def test_kappa_alpha_and_confusion_are_those_of_the_documents_that_both_graded():
    extra = judged(ANN, "t1", {"more": 2}) + judged(LLM, "t2", {"other": 0, "unsure": None})
    found = agreed(PEOPLE, MACHINE, extra)
    one, other = [j.grade for j in PEOPLE], [j.grade for j in MACHINE]
    values = {name: value.value for name, value in found.of_grades.values.items()}
    for weights in ("linear", "quadratic"):
        expected = weighted_kappa(one, other, [0, 1, 2], weights)
        assert values[f"kappa, {weights}"] == pytest.approx(expected)
    alpha = krippendorff_alpha([*zip(one, other, strict=True)], "ordinal")
    assert values["alpha, ordinal"] == pytest.approx(alpha)
    assert found.of_grades.documents == len(PEOPLE)
    assert found.of_grades.table[0][1] == sum(
        (a, b) == (0, 1) for a, b in zip(one, other, strict=True)
    )
    assert "llm gpt-x 1 could not tell the grade of 1 document" in found.notes
    assert "llm gpt-x 1 did not judge 1 document that others did" in found.notes


def test_an_interval_holds_the_value_and_narrows_with_topics():
    few = agreed(PEOPLE, MACHINE).of_grades.values["kappa, linear"]
    people = of_people(topics=80)
    many = agreed(people, copied(people, LLM)).of_grades.values["kappa, linear"]
    assert few.low < few.value < few.high
    assert many.width < few.width


def test_how_many_more_judgments_follows_the_square_root():
    found = agreed(PEOPLE, MACHINE)
    now = found.of_grades.values["kappa, linear"].width
    assert found.width == now / 2
    assert found.further == 3 * len(PEOPLE)
    assert agreed(PEOPLE, MACHINE, width=1.0).further == 0


def test_with_few_topics_documents_are_drawn_and_that_is_told():
    people = of_people(topics=3)
    found = agreed(people, copied(people, LLM))
    assert found.of_grades.drawn == "documents"
    assert any("They say nothing of other topics" in part for part in render(found))


def test_topics_that_the_judge_was_fitted_on_are_left_out_as_its_version_says():
    found = agreed(PEOPLE, copied(PEOPLE, FITTED))
    assert found.of_grades.topics == 6
    assert found.judge == "ce v1"
    assert found.notes[0] == (
        "held out: 120 documents of 6 topics, without 2 topics that it was fitted on, as its "
        "version says"
    )


def test_what_the_caller_names_is_left_out_too():
    found = agreed(PEOPLE, MACHINE, fitted_on={"t5"}, seen={("t0", "d0"), ("t0", "d1")})
    assert (found.of_grades.topics, found.of_grades.documents) == (7, 138)
    assert found.notes[0].endswith(
        "without 1 topic and 2 documents that it was fitted on, as the call says"
    )


def test_where_nothing_says_what_it_was_fitted_on_that_is_told():
    assert (
        "nothing says which judgments llm gpt-x 1 was fitted on" in agreed(PEOPLE, MACHINE).notes[0]
    )


def test_a_judge_that_saw_everything_is_not_measured():
    with pytest.raises(InputError, match="graded no document both beyond those that it was fitted"):
        agreed(PEOPLE, MACHINE, fitted_on={f"t{n}" for n in range(8)})


def test_a_judge_that_gives_one_grade_has_no_kappa_and_no_order():
    constant = copied(PEOPLE, LLM, wrong=0)
    constant = [judged(LLM, j.topic, {j.document: 1})[0] for j in constant]
    found = agreed(PEOPLE, constant, runs=RUNS)
    assert found.of_grades.values["kappa"].value == 0.0
    alone = agreed([judged(ANN, j.topic, {j.document: 1})[0] for j in PEOPLE], constant)
    assert alone.of_grades.values["kappa"].value is None
    assert any("no value: all have one grade" in part for part in render(alone))
    assert found.of_systems.correlations["tau-ap"].value is None
    assert any("no value: systems tie" in part for part in render(found))


def test_a_judge_that_copies_people_gives_their_order_and_favours_nobody():
    found = agreed(PEOPLE, copied(PEOPLE, LLM, wrong=0), runs=RUNS)
    systems = found.of_systems
    assert {name: value.value for name, value in systems.correlations.items()} == {
        "tau-b": 1.0,
        "tau-ap": 1.0,
    }
    assert all(system.error == 0 and not system.is_favoured for system in systems.systems)
    assert (systems.reordered, min(systems.replaced)) == (0.0, 1.0)
    assert found.differences == []
    assert any("is not shown to favour a system" in part for part in render(found))


def test_a_judge_that_likes_what_a_system_ranks_first_favours_it():
    liked = {(t, d) for t, ranking in RUNS[2].rankings.items() for d in ranking.doc_ids[:5]}
    biased = [
        judged(LLM, j.topic, {j.document: 2 if (j.topic, j.document) in liked else j.grade})[0]
        for j in PEOPLE
    ]
    systems = agreed(PEOPLE, biased, runs=RUNS).of_systems
    favoured = {system.name: system.is_favoured for system in systems.systems}
    assert favoured["c"] == 1
    assert all(favoured[name] <= 0 for name in "abd")
    assert sum(system.beyond.value for system in systems.systems) == pytest.approx(0)


def test_means_by_each_judge_are_those_of_its_grades_of_common_documents():
    from irplatform.evaluation.scoring import evaluate

    found = agreed(PEOPLE, MACHINE, judged(ANN, "t1", {"d99": 2}), runs=RUNS).of_systems
    for label, judgments in (("first", PEOPLE), ("second", MACHINE)):
        qrels = {}
        for j in judgments:
            qrels.setdefault(j.topic, {})[j.document] = j.grade
        for system, each in zip(found.systems, RUNS, strict=True):
            mean = evaluate(qrels, each, ["nDCG@5"]).aggregate["nDCG@5"]
            assert getattr(system, label) == pytest.approx(mean)


def test_the_order_of_judgments_and_the_names_of_systems_change_nothing():
    found = agreed(PEOPLE, MACHINE, runs=RUNS)
    again = agreed(MACHINE, PEOPLE, runs=RUNS)
    assert again == found
    renamed = [Run(f"z{each.name}", each.rankings) for each in RUNS]
    other = agreed(PEOPLE, MACHINE, runs=renamed).of_systems
    assert other.correlations == found.of_systems.correlations
    assert other.reordered == found.of_systems.reordered


def test_a_run_under_two_names_counts_once():
    found = agreed(PEOPLE, MACHINE, runs=[*RUNS, Run("again", RUNS[0].rankings)]).of_systems
    assert found.alike == {"again": "a"}
    assert found.correlations == agreed(PEOPLE, MACHINE, runs=RUNS).of_systems.correlations


def test_two_systems_have_no_order():
    with pytest.raises(
        InputError, match="at least 3 systems with values of their own; there are 2"
    ):
        agreed(PEOPLE, MACHINE, runs=RUNS[:2])


def test_documents_to_adjudicate_come_by_distance_and_by_ranks():
    people = judged(ANN, "t0", {"d0": 0, "d1": 0, "d2": 0, "d3": 1})
    machine = judged(LLM, "t0", {"d0": 1, "d1": 2, "d2": 1, "d3": 1})
    found = agreed(people, machine)
    assert [(each.document, each.weight) for each in found.differences] == [
        ("d1", 2.0),
        ("d0", 1.0),
        ("d2", 1.0),
    ]
    first = Run("x", {"t0": Ranking.of(["d2", "d0", "d1"], [3.0, 2.0, 1.0])})
    others = [
        Run("y", {"t0": Ranking.of(["d2", "d1"], [2.0, 1.0])}),
        Run("z", {"t0": Ranking.of(["d0"], [1.0])}),
    ]
    ranked = agreed(people, machine, runs=[first, *others]).differences
    assert [each.document for each in ranked] == ["d1", "d2", "d0"]


def test_two_people_are_measured_without_being_named():
    bob = copied(PEOPLE, BOB)
    found = agreed(PEOPLE, bob, runs=RUNS)
    assert (found.judge, found.against, found.notes) == ("bob", "ann", [])
    assert found.of_systems.symmetric
    turned = agreed(PEOPLE, bob, runs=RUNS, judge="ann")
    assert (turned.judge, turned.against) == ("ann", "bob")
    assert turned.of_systems.correlations["tau-ap"] == found.of_systems.correlations["tau-ap"]


def test_what_was_decided_between_two_people_is_the_grade_of_neither():
    bob = copied(PEOPLE, BOB)
    decided = [judged(Source("person", "ann", "adjudicated"), "t0", {"d0": 2, "d1": 2})]
    assert agreed(PEOPLE, bob, *decided).of_grades == agreed(PEOPLE, bob).of_grades
    assert agreed(PEOPLE, bob, *decided, judge="ann").judge == "ann"


def test_a_machine_is_measured_by_what_was_decided():
    grades = {j.document: j.grade for j in PEOPLE if j.topic == "t0"}
    decided = judged(BOSS, "t0", {document: 2 - grade for document, grade in grades.items()})
    assert agreed(PEOPLE, MACHINE, decided).of_grades != agreed(PEOPLE, MACHINE).of_grades


def test_people_among_themselves_are_the_measure_of_a_machine():
    bob = copied(PEOPLE, BOB)
    found = agreed(PEOPLE, bob, MACHINE, judged(BOSS, "t0", {"d0": 2}))
    documents = [(a.grade, b.grade) for a, b in zip(PEOPLE, bob, strict=True)]
    alpha = krippendorff_alpha(documents, "ordinal")
    assert found.among_people == (pytest.approx(alpha), 160)
    assert agreed(PEOPLE, MACHINE).among_people is None


def test_one_of_several_judges_has_to_be_named():
    other = copied(PEOPLE, FITTED)
    with pytest.raises(InputError, match="name one judge, judge=NAME: there are ce v1, llm"):
        agreed(PEOPLE, MACHINE, other)
    assert agreed(PEOPLE, MACHINE, other, judge="ce").judge == "ce v1"
    with pytest.raises(InputError, match="unknown source 'cee'"):
        agreed(PEOPLE, MACHINE, judge="cee")


def test_a_grade_outside_those_named_is_refused():
    with pytest.raises(InputError, match="the grade 2 is none of those named: 0, 1"):
        agreed(PEOPLE, MACHINE, grades=[0, 1])


def test_random_tenths_scored_together_are_those_scored_one_by_one(monkeypatch):
    from irplatform.judging.agreement import systems

    together = agreed(PEOPLE, MACHINE, runs=RUNS).of_systems
    monkeypatch.setattr(systems, "_AT_ONCE", 1)
    assert agreed(PEOPLE, MACHINE, runs=RUNS).of_systems == together


def test_a_judge_is_not_measured_by_itself():
    with pytest.raises(InputError, match="nobody but ann has judged"):
        agreed(PEOPLE, judge="ann")
