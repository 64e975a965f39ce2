"""The usual measures, computed for all topics at once, are trec_eval's to the last bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from irplatform.evaluation.kinds import Scored
from irplatform.evaluation.measure_names import parse_measures
from irplatform.evaluation.packages import values_of_packages
from irplatform.runs import Ranking, Run
from irplatform.runs.packed import PackedRanking, cells_of

MEASURES = parse_measures(
    [
        *("AP", "AP@5", "AP(rel=2)", "P@1", "P@10", "P(rel=2)@3", "R@5", "R@1000", "RR"),
        *(
            "RR(rel=2)",
            "Rprec",
            "Rprec(rel=3)",
            "Success@1",
            "Success@5",
            "nDCG",
            "nDCG@3",
            "nDCG@20",
        ),
    ]
)
DOC_IDS = st.one_of(
    st.integers(1, 60).map(lambda number: f"d{number}"),
    st.sampled_from(["é", "\U0001f600", "a b", "clueweb09-en0000-00-00001", "x" * 70]),
)
RANKINGS = st.lists(DOC_IDS, unique=True, max_size=40).map(
    lambda ids: Ranking.of(ids, range(len(ids), 0, -1))
)
GRADES = st.sampled_from([-2, -1, 0, 0, 1, 1, 2, 3, 100])
TOPICS = st.sampled_from(["1", "2", "PLAIN-3"])


def values(judged, run):
    scored = Scored(judged, run)
    return {name: measure.values(scored) for name, measure in MEASURES.items()}


def as_packed(run):
    return Run(run.name, {t: PackedRanking(cells_of(r), r.scores) for t, r in run.rankings.items()})


@settings(max_examples=200, deadline=None)
@given(
    judged=st.dictionaries(
        TOPICS, st.dictionaries(DOC_IDS, GRADES, min_size=1, max_size=30), min_size=1
    ),
    rankings=st.dictionaries(TOPICS, RANKINGS),
)
def test_values_are_those_of_pytrec_eval_to_the_last_bit(judged, rankings):
    assert all(measure.is_computed_here() for measure in MEASURES.values())
    run = Run("x", rankings)
    expected = values_of_packages(MEASURES, Scored(judged, run))
    for variant in (run, as_packed(run)):
        assert values(judged, variant) == expected


def test_long_rankings_agree_too():
    random = np.random.default_rng(3)
    judged, rankings = {}, {}
    for topic in range(40):
        ids = [f"d{number}" for number in random.permutation(3000)[:1500]]
        rankings[str(topic)] = Ranking.of(ids, np.arange(len(ids), 0, -1))
        judged[str(topic)] = {
            f"d{number}": int(random.integers(0, 4)) for number in random.permutation(3000)[:300]
        }
    run = Run("x", rankings)
    expected = values_of_packages(MEASURES, Scored(judged, run))
    assert values(judged, run) == expected
    assert values(judged, as_packed(run)) == expected


def test_values_are_those_computed_by_hand():
    run = Run("x", {"1": Ranking.of(["a", "b", "c", "d"], [4, 3, 2, 1])})
    scores = values({"1": {"b": 1, "d": 2, "e": 1}, "2": {"a": 1}}, run)
    assert scores["AP"] == {"1": (1 / 2 + 2 / 4) / 3, "2": 0}
    assert scores["RR"] == {"1": 1 / 2, "2": 0}
    assert scores["R@5"] == {"1": 2 / 3, "2": 0}
    assert scores["P(rel=2)@3"] == {"1": 0, "2": 0}
    assert scores["Rprec"] == {"1": 1 / 3, "2": 0}


def test_other_measures_and_parameters_are_left_to_the_packages():
    others = parse_measures(["Bpref", "RR@10", "P(judged_only=True)@5", "ERR@20", "NumRet"])
    assert not any(measure.is_computed_here() for measure in others.values())
