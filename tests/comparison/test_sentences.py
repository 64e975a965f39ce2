"""What a comparison says in plain words: clear, unclear, and hanging on unjudged documents."""

import pytest

from irplatform.comparison.compare import compare
from irplatform.comparison.sentences import sentences
from irplatform.evaluation.judgments import Judgments
from irplatform.runs import Ranking, Run

TOPICS = [f"{number:02}" for number in range(20)]


def ranked(name, choose):
    """A run with the documents that a function of the topic's number names, best first."""
    rankings = {}
    for number, topic in enumerate(TOPICS):
        doc_ids = choose(number)
        rankings[topic] = Ranking.of(doc_ids, range(len(doc_ids), 0, -1))
    return Run(name, rankings)


def compared(one, two, measure="RR", **options):
    judgments = Judgments({topic: {"x": 1, "n": 0, "m": 0} for topic in TOPICS}, None, [measure])
    return compare(judgments, {"one": one, "two": two}, **options).pairs[0]


LOW = ranked("one", lambda n: ["n", "x", "m"] if n % 4 else ["n", "m", "x"])
HIGH = ranked("two", lambda n: ["x", "n"] if n % 5 else ["n", "x"])


def test_a_clear_case():
    pair = compared(LOW, HIGH)
    assert pair.verdict == "better"
    assert pair.depends_on == ()
    assert pair.sentence == (
        "two is better than one: by 0.4417 RR, most likely between 0.3396 and 0.5438, and on 17 of "
        "20 topics."
    )
    back = compared(HIGH, LOW)
    assert back.sentence.startswith("two is worse than one: by 0.4417 RR, most likely between 0.3")


def test_an_unclear_case():
    second = ranked("two", lambda n: ["x", "n"] if n in {1, 2} else ["n", "m", "x"])
    pair = compared(LOW, second)
    assert pair.verdict == "unclear"
    assert pair.sentence == (
        "two is not shown to differ from one by RR: -0.0583 may be chance (p = 0.22). With 20 "
        "topics a difference of 0.135 or more is found four times in five; the one observed would "
        "need about 99."
    )


def test_a_clear_case_that_hangs_on_unjudged_documents():
    unjudged = ranked("one", lambda n: ["u", "x"])
    pair = compared(unjudged, ranked("two", lambda n: ["x", "u"] if n % 5 else ["n", "x"]))
    assert (pair.verdict, pair.depends_on) == ("better", ("unjudged",))
    assert pair.sentence.endswith(
        "Unjudged documents could undo this: if those that one ranks higher are relevant and no "
        "others, the difference is -0.1000."
    )


def test_an_unclear_case_that_unjudged_documents_could_decide():
    one = ranked("one", lambda n: ["n", "x"] if n % 2 else ["x", "n"])
    two = ranked("two", lambda n: ["u", "x"] if n % 3 else ["x", "u"])
    pair = compared(one, two)
    assert (pair.verdict, pair.depends_on) == ("unclear", ("unjudged",))
    assert "Unjudged documents could decide it: they can put the difference" in pair.sentence


def test_where_only_relevant_documents_are_named_nothing_hangs_on_unjudged_ones():
    judgments = Judgments({topic: {"x": 1} for topic in TOPICS}, None, ["RR"])
    one = ranked("one", lambda n: ["u", "x"])
    two = ranked("two", lambda n: ["x", "u"] if n % 5 else ["n", "x"])
    comparison = compare(judgments, {"one": one, "two": two})
    assert comparison.pairs[0].depends_on == ()
    assert comparison.pairs[0].unjudged.low < 0
    assert comparison.notes == (
        "the judgments name relevant documents only: all others count as not relevant",
    )


def test_a_case_that_hangs_on_ties():
    def tied(number):
        return Ranking.of(["x", "n"], [1.0, 1.0])

    two = Run("two", {topic: tied(n) for n, topic in enumerate(TOPICS)})
    one = ranked("one", lambda n: ["n", "x"] if n else ["n", "m", "x"])
    pair = compared(one, two)  # x stands before n, by id
    assert pair.verdict == "better"
    assert pair.ties.low == pytest.approx(1 / 6 / 20)
    assert pair.ties.high == pair.difference
    assert pair.depends_on == ("ties",)
    assert "in the order that is best for one" in pair.sentence


def test_a_single_topic_and_equal_systems():
    judgments = Judgments({"00": {"x": 1}}, None, ["RR"])
    pair = compare(judgments, {"one": LOW, "two": HIGH}).pairs[0]
    assert pair.sentence == "One topic does not show whether two is better than one."
    same = compare(judgments, {"one": LOW, "same": LOW}).pairs[0]
    assert same.sentence == "same has the same ranking as one."


def test_unclear_systems_share_a_sentence_and_ranks_end_them():
    second = ranked("two", lambda n: ["x", "n"] if n in {1, 2} else ["n", "m", "x"])
    more = ranked("three", lambda n: ["x", "n"] if n in {0, 4} else ["u", "m", "x"])
    judgments = Judgments({topic: {"x": 1, "n": 0, "m": 0} for topic in TOPICS}, None, ["RR"])
    comparison = compare(judgments, {"one": LOW, "two": second, "three": more, "four": HIGH})
    together, four, ranks = sentences(comparison, "RR")
    assert together.startswith(
        "two and three are not shown to differ from one by RR: -0.0583 and -0.0583 may be chance. "
        "With 20 topics differences of 0.160 to 0.200 or more are found four times in five; those "
        "observed would need about 130 and 200."
    )
    assert together.endswith("Unjudged documents could decide it for three.")
    assert four == comparison.pairs_by("RR")[2].sentence
    assert ranks == (
        "Ranks that other topics like these would give, 95 of 100 times: four 1, one 2–3, two 2–4, "
        "three 2–4."
    )


def test_of_many_unclear_systems_each_has_its_figures_behind_its_name():
    judgments = Judgments({topic: {"x": 1, "n": 0, "m": 0} for topic in TOPICS}, None, ["RR"])
    runs = {
        name: ranked(
            name, lambda n, numbers=numbers: ["x", "n"] if n in numbers else ["n", "m", "x"]
        )
        for name, numbers in (
            ("two", {1, 2}),
            ("three", {0, 4}),
            ("four", {3, 5}),
            ("five", {6, 7}),
        )
    }
    together, _ = sentences(compare(judgments, {"one": LOW, **runs}), "RR")
    assert together == (
        "two (-0.0583, about 140 topics), three (-0.0583, about 220 topics), four (-0.0583, about "
        "140 topics) and five (-0.0583, about 140 topics) are not shown to differ from one by RR. "
        "With 20 topics differences of 0.166 to 0.208 or more are found four times in five; in "
        "brackets the topics that the observed ones would need."
    )
