"""Our numbers are trec_eval's, for runs with ties, graded and negative judgments.

`pytrec_eval` is trec_eval's own code behind a Python interface; here it gets the raw scores and
breaks ties by itself.
"""

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from irplatform.evaluation.qrels import read_qrels
from irplatform.evaluation.scoring import evaluate
from irplatform.runs import Ranking, Run, read_run

NAMES = {
    "AP": "map",
    "P@10": "P_10",
    "Rprec": "Rprec",
    "nDCG@20": "ndcg_cut_20",
    "nDCG": "ndcg",
    "RR": "recip_rank",
    "R@1000": "recall_1000",
    "Success@1": "success_1",
    "Success@5": "success_5",
    "Bpref": "bpref",
    "infAP": "infAP",
    "P(rel=2)@10": ("P_10", 2),
    "AP(rel=2)": ("map", 2),
}
DOC_IDS = st.sampled_from([f"d{number}" for number in range(1, 31)] + ["é", "Z", "z", "\U0001f600"])
TIED_SCORES = st.sampled_from([0.0, -1.0, 1.0, 1.0 + 1e-9, 2.5, 16777216.0, 16777217.0])
RANKINGS = st.dictionaries(DOC_IDS, TIED_SCORES, min_size=1, max_size=30)
GRADES = st.sampled_from([-2, -1, 0, 0, 0, 1, 1, 2, 3, 100])
JUDGMENTS = st.dictionaries(DOC_IDS, GRADES, min_size=1, max_size=30).filter(
    lambda judgments: max(judgments.values()) >= 0  # trec_eval itself crashes on the others
)
TOPICS = st.sampled_from(["1", "2", "PLAIN-3"])


def trec_eval(qrels, scores, name):
    measure, level = name if isinstance(name, tuple) else (name, 1)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {measure}, relevance_level=level)
    values = evaluator.evaluate(scores)
    return {topic: values[topic][measure] if topic in values else 0.0 for topic in qrels}


@settings(max_examples=300)
@given(
    qrels=st.dictionaries(TOPICS, JUDGMENTS, min_size=1),
    scores=st.dictionaries(TOPICS, RANKINGS, min_size=1),
)
def test_every_topic_of_a_run_with_ties_scores_as_in_trec_eval(qrels, scores):
    run = Run("x", {t: Ranking.of(list(s), list(s.values())) for t, s in scores.items()})
    result = evaluate(qrels, run, list(NAMES))
    for name, measure in NAMES.items():
        assert result.per_topic[name] == pytest.approx(trec_eval(qrels, scores, measure), abs=1e-12)


@pytest.mark.parametrize("name", ["AP", "RR", "RR@10", "Success@1", "P@1", "nDCG@1", "Judged@1"])
def test_packages_that_break_ties_otherwise_get_our_order_too(name):
    # Of two documents with one score, trec_eval puts the greater id first
    run = Run("x", {"1": Ranking.of(["a", "b"], [1.0, 1.0])})
    assert evaluate({"1": {"b": 1}}, run, [name]).aggregate[name] == 1.0
    assert evaluate({"1": {"a": 1}}, run, [name]).aggregate[name] < 1.0


def test_a_mean_between_two_digits_is_printed_as_trec_eval_prints_it():
    # trec_eval adds 0.1, 0.3 and 0.7, by the bytes of the topics' ids; 0.7 + 0.1 + 0.3 is less
    hits = {"6": 7, "13": 1, "15": 3}
    topics = [str(number) for number in range(1, 17)]
    documents = [f"d{number}" for number in range(10)]
    qrels = {t: {d: int(n < hits.get(t, 0)) for n, d in enumerate(documents)} for t in topics}
    run = Run("x", {t: Ranking.of(documents, [1.0] * 10) for t in topics})
    assert f"{evaluate(qrels, run, ['P@10']).aggregate['P@10']:.4f}" == "0.0688"


@pytest.mark.real
@pytest.mark.parametrize("run_name", ["mugpubbase", "mugpubboost"])
def test_official_runs_get_the_figures_that_trec_printed(test_data, run_name):
    folder = test_data / "trec-pm"
    qrels = read_qrels(folder / "qrels" / "qrels-treceval-abstracts.2017.txt")
    run = read_run(folder / "runs" / f"{run_name}.trec_results.gz")
    names = {"map": "AP", "P10": "P@10", "R-prec": "Rprec", "recip_rank": "RR", "bpref": "Bpref"}
    result = evaluate(qrels, run, list(names.values()))
    official = (folder / "official" / f"{run_name}.trec_eval").read_text().splitlines()
    checked = 0
    for measure, topic, value in (line.split() for line in official if len(line.split()) == 3):
        if measure in names:
            name = names[measure]
            score = result.aggregate[name] if topic == "all" else result.per_topic[name][topic]
            assert f"{score:.4f}" == value, (measure, topic)
            checked += 1
    assert checked == len(names) * (len(qrels) + 1)
