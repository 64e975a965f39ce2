"""A judge measured against people: what counts, what it says, and how sure that is."""

import numpy as np
import pytest
from sourced_judgments import ANN, BOB, BOSS, LLM, judged

from irplatform.errors import InputError
from irplatform.evaluation.agreement.of_grades import confusion, kappas, krippendorff_alpha
from irplatform.judging.agreement.grades import Value
from irplatform.judging.agreement.judge import judge_agreement
from irplatform.judging.agreement.systems import _mixed
from irplatform.judging.agreement.tables import _values, render
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
    gathered = Gathered([j for group in judgments for j in group], name="j.jsonl")
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
    agreement = agreed(PEOPLE, MACHINE, extra)
    one, other = [j.grade for j in PEOPLE], [j.grade for j in MACHINE]
    values = {name: value.value for name, value in agreement.of_grades.values.items()}
    for weights in ("linear", "quadratic"):
        expected = kappas(confusion(one, other, [0, 1, 2]), [0, 1, 2], weights)
        assert values[f"kappa, {weights}"] == pytest.approx(expected)
    alpha = krippendorff_alpha([*zip(one, other, strict=True)], "ordinal")
    assert values["alpha, ordinal"] == pytest.approx(alpha)
    assert agreement.of_grades.documents == len(PEOPLE)
    assert agreement.of_grades.table[0][1] == sum(
        (a, b) == (0, 1) for a, b in zip(one, other, strict=True)
    )
    assert "llm gave no grade to 1 document that others graded" in agreement.notes


def test_an_interval_holds_the_value_and_narrows_with_topics():
    few = agreed(PEOPLE, MACHINE).of_grades.values["kappa, linear"]
    people = of_people(topics=80)
    many = agreed(people, copied(people, LLM)).of_grades.values["kappa, linear"]
    assert few.low < few.value < few.high
    assert many.width < few.width


def test_how_many_more_judgments_follows_the_square_root():
    agreement = agreed(PEOPLE, MACHINE)
    now = agreement.of_grades.values["kappa, linear"].width
    assert agreement.of_grades.width == now / 2
    assert agreement.of_grades.further == 3 * len(PEOPLE)
    assert agreed(PEOPLE, MACHINE, width=1.0).of_grades.further == 0


def test_with_few_topics_documents_are_drawn_and_that_is_told():
    people = of_people(topics=3)
    agreement = agreed(people, copied(people, LLM))
    assert "They say nothing of other topics" in render(agreement)


def test_topics_that_the_judge_was_fitted_on_are_left_out_as_its_version_says():
    agreement = agreed(PEOPLE, copied(PEOPLE, FITTED))
    assert agreement.of_grades.topics == 6
    assert agreement.judge == "ce v1"
    assert agreement.notes[0] == (
        "held out: 120 documents of 6 topics, without 2 topics that ce was fitted on"
    )


def test_what_the_caller_names_is_left_out_too():
    agreement = agreed(PEOPLE, MACHINE, fitted_on={"t5"})
    assert (agreement.of_grades.topics, agreement.of_grades.documents) == (7, 140)
    assert agreement.notes[0].endswith("without 1 topic that llm was fitted on")
    with pytest.raises(InputError, match="unknown topic 't55'"):
        agreed(PEOPLE, MACHINE, fitted_on={"t55"})


def test_where_nothing_says_what_it_was_fitted_on_that_is_told():
    assert "nothing says which judgments llm was fitted on" in agreed(PEOPLE, MACHINE).notes[0]


def test_a_judge_that_saw_everything_is_not_measured():
    with pytest.raises(InputError, match="graded no document both beyond the topics that"):
        agreed(PEOPLE, MACHINE, fitted_on={f"t{n}" for n in range(8)})


def test_a_judge_that_gives_one_grade_has_no_kappa_and_no_order():
    constant = copied(PEOPLE, LLM, wrong=0)
    constant = [judged(LLM, j.topic, {j.document: 1})[0] for j in constant]
    agreement = agreed(PEOPLE, constant, runs=RUNS)
    assert agreement.of_grades.values["kappa"].value == 0.0
    alone = agreed([judged(ANN, j.topic, {j.document: 1})[0] for j in PEOPLE], constant)
    assert alone.of_grades.values["kappa"].value is None
    assert "no value: all have one grade" in render(alone)
    assert agreement.of_systems.correlations["tau-ap"].value is None
    assert "no value: systems tie" in render(agreement)


def test_a_judge_that_copies_people_gives_their_order_and_favours_nobody():
    agreement = agreed(PEOPLE, copied(PEOPLE, LLM, wrong=0), runs=RUNS)
    systems = agreement.of_systems
    assert {name: value.value for name, value in systems.correlations.items()} == {
        "tau-b": 1.0,
        "tau-ap": 1.0,
    }
    assert all(system.first == system.second for system in systems.systems)
    assert all(system.beyond.low == system.beyond.high == 0 for system in systems.systems)
    assert (systems.reordered, systems.lowest_tau) == (0.0, 1.0)
    assert agreement.differences == []
    assert "is not shown to favour a system" in render(agreement)


def test_a_judge_that_likes_what_a_system_ranks_first_favours_it():
    liked = {(t, d) for t, ranking in RUNS[2].rankings.items() for d in ranking.doc_ids[:5]}
    biased = [
        judged(LLM, j.topic, {j.document: 2 if (j.topic, j.document) in liked else j.grade})[0]
        for j in PEOPLE
    ]
    agreement = agreed(PEOPLE, biased, runs=RUNS)
    systems = {system.name: system.beyond for system in agreement.of_systems.systems}
    assert systems["c"].low > 0
    assert all(systems[name].low <= 0 for name in "abd")
    assert sum(beyond.value for beyond in systems.values()) == pytest.approx(0)
    assert "llm favours c, beyond its mean error." in render(agreement)


def test_means_by_each_judge_are_those_of_its_grades_of_common_documents():
    from irplatform.evaluation.scoring import evaluate

    system_agreement = agreed(PEOPLE, MACHINE, judged(ANN, "t1", {"d99": 2}), runs=RUNS).of_systems
    for label, judgments in (("first", PEOPLE), ("second", MACHINE)):
        qrels = {}
        for j in judgments:
            qrels.setdefault(j.topic, {})[j.document] = j.grade
        for system, system_run in zip(system_agreement.systems, RUNS, strict=True):
            mean = evaluate(qrels, system_run, ["nDCG@5"]).aggregate["nDCG@5"]
            assert getattr(system, label) == pytest.approx(mean)


def test_the_order_of_judgments_and_the_names_of_systems_change_nothing():
    agreement = agreed(PEOPLE, MACHINE, runs=RUNS)
    again = agreed(MACHINE, PEOPLE, runs=RUNS)
    assert again == agreement
    renamed = [Run(f"z{system_run.name}", system_run.rankings) for system_run in RUNS]
    other = agreed(PEOPLE, MACHINE, runs=renamed).of_systems
    assert other.correlations == agreement.of_systems.correlations
    assert other.reordered == agreement.of_systems.reordered


def test_a_run_under_two_names_counts_once():
    systems = agreed(PEOPLE, MACHINE, runs=[*RUNS, Run("again", RUNS[0].rankings)]).of_systems
    assert systems.alike == {"again": "a"}
    assert systems.correlations == agreed(PEOPLE, MACHINE, runs=RUNS).of_systems.correlations


def test_two_systems_have_no_order():
    with pytest.raises(
        InputError, match="at least 3 systems with values of their own; there are 2"
    ):
        agreed(PEOPLE, MACHINE, runs=RUNS[:2])


def test_documents_to_adjudicate_come_by_distance_and_by_ranks():
    people = judged(ANN, "t0", {"d0": 0, "d1": 0, "d2": 0, "d3": 1})
    machine = judged(LLM, "t0", {"d0": 1, "d1": 2, "d2": 1, "d3": 1})
    agreement = agreed(people, machine)
    assert [(difference.document, difference.weight) for difference in agreement.differences] == [
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
    assert [difference.document for difference in ranked] == ["d1", "d2", "d0"]


def test_two_people_are_measured_without_being_named():
    bob = copied(PEOPLE, BOB)
    agreement = agreed(PEOPLE, bob, runs=RUNS)
    assert (agreement.judge, agreement.against, agreement.notes) == ("bob", "ann", [])
    assert agreement.of_systems.symmetric
    turned = agreed(PEOPLE, bob, runs=RUNS, judge="ann")
    assert (turned.judge, turned.against) == ("ann", "bob")
    assert turned.of_systems.correlations["tau-ap"] == agreement.of_systems.correlations["tau-ap"]


def test_what_was_decided_between_two_people_is_the_grade_of_neither():
    bob = copied(PEOPLE, BOB)
    decided = [judged(Source("person", "ann", "adjudicated"), "t0", {"d0": 2, "d1": 2})]
    assert agreed(PEOPLE, bob, *decided).of_grades == agreed(PEOPLE, bob).of_grades
    assert agreed(PEOPLE, bob, *decided, judge="ann").judge == "ann"


def test_what_was_decided_is_not_to_be_adjudicated_again():
    bob = copied(PEOPLE, BOB)
    first, *others = agreed(PEOPLE, bob).differences
    decided = judged(BOSS, first.topic, {first.document: 2})
    assert agreed(PEOPLE, bob, decided).differences == others


def test_a_share_of_draws_that_rounds_to_0_is_not_told_as_0():
    table = _values("systems", {"tau-ap": Value(0.5, -1.0, 1.0, 0.0002)}, "none")
    assert "none in under 0.1% of draws" in str(table)


def test_a_pool_that_nobody_judged_has_no_judge():
    with pytest.raises(InputError, match="nobody has judged yet"):
        agreed()


def test_a_machine_is_measured_by_what_was_decided():
    grades = {j.document: j.grade for j in PEOPLE if j.topic == "t0"}
    decided = judged(BOSS, "t0", {document: 2 - grade for document, grade in grades.items()})
    assert agreed(PEOPLE, MACHINE, decided).of_grades != agreed(PEOPLE, MACHINE).of_grades


def test_people_among_themselves_are_the_measure_of_a_machine():
    bob = copied(PEOPLE, BOB)
    agreement = agreed(PEOPLE, bob, MACHINE, judged(BOSS, "t0", {"d0": 2}))
    documents = [(a.grade, b.grade) for a, b in zip(PEOPLE, bob, strict=True)]
    alpha = krippendorff_alpha(documents, "ordinal")
    assert agreement.among_people == (pytest.approx(alpha), 160)
    assert agreed(PEOPLE, MACHINE).among_people is None


def test_one_of_several_judges_has_to_be_named():
    other = copied(PEOPLE, FITTED)
    with pytest.raises(InputError, match="name one judge, judge=NAME: there are ce v1, llm"):
        agreed(PEOPLE, MACHINE, other)
    assert agreed(PEOPLE, MACHINE, other, judge="ce").judge == "ce v1"
    with pytest.raises(InputError, match="unknown source 'cee'"):
        agreed(PEOPLE, MACHINE, judge="cee")


def test_grades_that_nobody_gave_have_no_place_in_the_table():
    wide = {0: 0, 1: 1, 2: 999_999}
    people, machine = (
        [judged(j.source, j.topic, {j.document: wide[j.grade]})[0] for j in judgments]
        for judgments in (PEOPLE, MACHINE)
    )
    grade_agreement = agreed(people, machine).of_grades
    assert grade_agreement.grades == [0, 1, 999_999]
    assert grade_agreement.table == agreed(PEOPLE, MACHINE).of_grades.table


def test_a_tenth_of_the_grades_is_replaced():
    first = {f"t{n}": dict.fromkeys(DOCUMENTS, 0) for n in range(3)}
    second = {topic: dict.fromkeys(DOCUMENTS, 1) for topic in first}
    draws = [*_mixed(first, second, 1)]
    assert [sum(sum(grades.values()) for grades in mixed.values()) for mixed in draws] == [6] * 100
    assert draws[0] != draws[1]


def test_a_judge_is_not_measured_by_itself():
    with pytest.raises(InputError, match="nobody but ann has judged"):
        agreed(PEOPLE, judge="ann")
