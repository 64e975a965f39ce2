"""Which topics count, and how measures are kept apart."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.errors import InputError, PlatformError
from irplatform.evaluation.qrels import read_qrels
from irplatform.evaluation.scoring import evaluate
from irplatform.runs import Ranking, Run

QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 2}, "3": {"a": 0}, "4": {}}
RUN = Run(
    "x",
    {
        "9": Ranking.of(["a"], [1.0]),
        "1": Ranking.of(["b", "a"], [2.0, 1.0]),
        "3": Ranking.of([], []),
    },
)


def test_all_judged_topics_count_and_no_others():
    result = evaluate(QRELS, RUN, ["RR", "Judged@2"])
    assert result.per_topic == {
        "RR": {"1": 0.5, "2": 0.0, "3": 0.0},
        "Judged@2": {"1": 1.0, "2": 0.0, "3": 0.0},
    }
    assert result.aggregate == {"RR": pytest.approx(0.5 / 3), "Judged@2": pytest.approx(1 / 3)}
    assert result.missing == ("2", "3")
    assert result.unjudged == ("9",)


def test_topics_keep_the_order_of_the_judgments_and_measures_that_of_the_request():
    result = evaluate(QRELS, RUN, ["P@1", "AP", "Judged@2"])
    assert list(result.per_topic) == list(result.aggregate) == ["P@1", "AP", "Judged@2"]
    assert [list(values) for values in result.per_topic.values()] == [["1", "2", "3"]] * 3


def test_counts_are_added_up():
    assert evaluate(QRELS, RUN, ["NumRet"]).aggregate == {"NumRet": 2.0}


def test_counts_of_the_judgments_are_the_same_for_every_run():
    for run in (RUN, Run("x", {})):
        result = evaluate(QRELS, run, ["NumRel", "NumQ"])
        assert result.per_topic["NumRel"] == {"1": 1.0, "2": 1.0, "3": 0.0}
        assert result.aggregate == {"NumRel": 2.0, "NumQ": 3.0}


def test_a_run_without_any_judged_topic_scores_zero():
    result = evaluate(QRELS, Run("x", {}), ["AP", "nDCG@20", "Judged@20", "RR@10", "Success@1"])
    assert set(result.aggregate.values()) == {0.0}


def test_a_measure_is_not_computed_on_the_gains_of_another():
    qrels = {"1": {"a": 1, "b": 2}}
    run = Run("x", {"1": Ranking.of(["a", "b"], [2.0, 1.0])})
    alone = evaluate(qrels, run, ["nDCG@20"]).aggregate["nDCG@20"]
    for names in (["nDCG(gains={1:10})@20", "nDCG@20"], ["nDCG@20", "nDCG(gains={1:10})@20"]):
        together = evaluate(qrels, run, names).aggregate
        assert together["nDCG@20"] == alone
        assert together["nDCG(gains={1:10})@20"] == 1.0


def test_measures_of_plugins_are_averaged_over_all_judged_topics():
    def first_id_length(qrels, run):
        return {topic: float(len(qrels[topic])) for topic in qrels}

    result = evaluate(QRELS, RUN, ["AP", "size"], extra={"size": first_id_length})
    assert result.per_topic["size"] == {"1": 2.0, "2": 1.0, "3": 1.0}
    assert result.aggregate["size"] == pytest.approx(4 / 3)


def test_a_plugin_that_writes_into_the_judgments_changes_no_other_score():
    def careless(qrels, run):
        for grades in qrels.values():
            grades.clear()
        return dict.fromkeys(qrels, 0.0)

    before = evaluate(QRELS, RUN, ["AP"]).per_topic
    for _ in range(2):
        scores = evaluate(QRELS, RUN, ["careless", "AP"], extra={"careless": careless}).per_topic
        assert scores["AP"] == before["AP"]


def test_names_are_checked_before_anything_is_computed():
    def never(qrels, run):
        raise AssertionError("computed")

    with pytest.raises(InputError, match="unknown measure"):
        evaluate(QRELS, RUN, ["never", "nonsense"], extra={"never": never})


def test_a_package_that_fails_is_said_in_a_line(monkeypatch):
    def evaluator(measures, qrels):
        if "Judged@1" in map(str, measures):
            raise ZeroDivisionError("division by zero")
        return working(measures, qrels)

    working = ir_measures.evaluator
    monkeypatch.setattr(ir_measures, "evaluator", evaluator)
    with pytest.raises(PlatformError, match="fails to compute Judged@1: ZeroDivisionError"):
        evaluate(QRELS, RUN, ["AP", "Judged@1", "P@1"])


def test_accuracy_is_1_where_nothing_but_relevant_documents_is_retrieved():
    result = evaluate(QRELS, RUN, ["Accuracy", "Accuracy@1", "P@1"])
    assert result.per_topic["Accuracy"] == {"1": 0.0, "2": 0.0, "3": 0.0}
    best = Run("x", {"1": Ranking.of(["a", "b"], [2.0, 1.0]), "2": Ranking.of(["a"], [1.0])})
    for name in ("Accuracy", "Accuracy@1"):
        assert evaluate(QRELS, best, [name]).per_topic[name] == {"1": 1.0, "2": 1.0, "3": 0.0}


@given(
    grades=st.dictionaries(st.sampled_from("abcdef"), st.integers(-1, 3), min_size=1),
    ranking=st.permutations("abcdefgh"),
    name=st.sampled_from(["Accuracy", "Accuracy@3", "Accuracy(rel=2)", "Accuracy(rel=2)@5"]),
)
def test_accuracy_is_that_of_ir_measures_where_its_code_does_not_fail(grades, ranking, name):
    measure = ir_measures.parse_measure(name)
    scores = {doc_id: float(-place) for place, doc_id in enumerate(ranking)}
    try:
        expected = sum(m.value for m in measure.iter_calc({"1": grades}, {"1": scores}))
    except ZeroDivisionError:
        expected = 1.0
    run = Run("x", {"1": Ranking.of(ranking, list(scores.values()))})
    assert evaluate({"1": grades}, run, [name]).aggregate[name] == pytest.approx(expected)


def test_a_topic_with_nothing_but_negative_grades_scores_zero():
    # trec_eval's own code crashes or hangs on these, hence the repetitions
    qrels = {"1": {"a": 1}} | {f"negative-{number}": {"a": -1, "b": -2} for number in range(50)}
    run = Run("x", {topic: Ranking.of(["a", "b", "c"], [3, 2, 1]) for topic in qrels})
    names = ["AP", "nDCG@20", "Bpref", "infAP", "P@2", "RR", "Rprec", "Judged@3"]
    for _ in range(20):
        result = evaluate(qrels, run, names)
        for name in names[:-1]:
            assert result.per_topic[name]["negative-7"] == 0.0
            assert result.aggregate[name] == pytest.approx(result.per_topic[name]["1"] / 51)
        assert result.per_topic["Judged@3"]["negative-7"] == pytest.approx(2 / 3)


SUBTOPICS = [
    ("1", "x", "a", 1),
    ("1", "y", "c", 2),
    ("1", "x", "b", 1),
    ("1", "y", "b", 0),
    ("2", "x", "a", 0),
    ("2", "y", "b", -1),
    ("3", "x", "a", 1),
]
DIVERSITY = [
    *("alpha_nDCG@10", "alpha_DCG@10", "ERR_IA@10", "nERR_IA@5", "StRecall@2", "NRBP", "nNRBP"),
    *("AP_IA", "P_IA@5", "alpha_nDCG(alpha=0.9)@10", "ERR_IA(rel=2)@10", "NRBP(beta=0.8)"),
]


@pytest.fixture
def diversity_qrels(tmp_path):
    path = tmp_path / "web.qrels"
    path.write_text("".join(f"{t} {s} {d} {g}\n" for t, s, d, g in SUBTOPICS))
    return read_qrels(path)


def test_measures_of_diversity_are_those_of_ir_measures(diversity_qrels):
    documents = {"1": "abc", "2": "ab"}
    run = Run("x", {t: Ranking.of(d, range(len(d), 0, -1)) for t, d in documents.items()})
    result = evaluate(diversity_qrels, run, [*DIVERSITY, "AP", "ERR_IA@10"])
    assert result.per_topic["AP"] == {"1": 1.0, "2": 0.0, "3": 0.0}
    qrels = [ir_measures.GenericQrel(t, d, g, s) for t, s, d, g in SUBTOPICS]
    results = [ir_measures.ScoredDoc(t, d, s) for t, r in run.rankings.items() for d, s in r]
    for name in DIVERSITY:
        measure = ir_measures.parse_measure(name)
        expected = {m.query_id: m.value for m in measure.iter_calc(qrels, results)}
        expected["2"] = 0.0  # nNRBP is 0 / 0 where nothing is relevant
        assert result.per_topic[name] == pytest.approx({**expected, "3": 0.0})
        assert result.aggregate[name] == pytest.approx(expected["1"] / 3)


def test_measures_of_diversity_are_refused_without_subtopics(diversity_qrels):
    with pytest.raises(InputError, match=r"^ERR_IA@5 needs .* No topic has two subtopics in the j"):
        evaluate(QRELS, RUN, ["AP", "ERR_IA@5"])
    with pytest.raises(InputError, match="ERR_IA@5 needs judgments of subtopics"):
        evaluate({"3": diversity_qrels["3"]}, RUN, ["ERR_IA@5"])
