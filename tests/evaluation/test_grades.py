"""Grades that a measure cannot take are refused, and said so."""

import ir_measures
import pytest

from irplatform.data import Collection
from irplatform.errors import InputError
from irplatform.evaluation.judgments import measures_of
from irplatform.evaluation.measure_names import parse_measures, refuse_grades
from irplatform.evaluation.scoring import evaluate
from irplatform.runs import Ranking, Run

QRELS = {"1": {"a": 5, "b": 0}, "2": {"a": 1, "b": -2}}
RUN = Run("x", {"1": Ranking.of(["a", "b"], [2, 1]), "2": Ranking.of(["b", "a"], [2, 1])})


def test_gdeval_takes_grades_up_to_4():
    name = "ERR@10"
    message = "takes grades up to 4; the judgments of 'x' have 5"
    with pytest.raises(InputError, match=message) as refused:
        refuse_grades(parse_measures(["AP", name]), QRELS, "the judgments of 'x'")
    assert str(refused.value).startswith(name)
    assert evaluate({"1": {"a": 4}}, RUN, [name]).aggregate[name] > 0


def test_scoring_refuses_what_its_program_would():
    with pytest.raises(InputError, match="the judgments have 5"):
        evaluate(QRELS, RUN, ["AP", "ERR@10"])


def test_other_measures_take_any_grade():
    names = [
        "nDCG@10",
        "nDCG-exp@10",
        "AP",
        "P(rel=5)@10",
        "RR",
        "Bpref",
        "infAP",
        "Judged@10",
        "Compat",
    ]
    qrels = {"1": {"a": 1000, "b": 0}, "2": {"a": 1, "b": -2}}
    refuse_grades(parse_measures(names), qrels)
    assert evaluate(qrels, RUN, names).aggregate["P(rel=5)@10"] == 0.05


def test_only_gdeval_is_asked_for_the_measure_with_a_limit():
    """Another package that ir-measures prefers some day may have no limit, or another one."""
    measure = ir_measures.parse_measure("ERR@10")
    supported = [p.NAME for p in ir_measures.DefaultPipeline.providers if p.supports(measure)]
    assert supported[0] == "gdeval"


def test_a_measure_of_a_plugin_by_that_name_takes_any_grade():
    refuse_grades(parse_measures(["ERR@10"], {"ERR@10": lambda qrels, run: {}}), QRELS)


def test_a_collections_own_measures_are_looked_at():
    collection = Collection("x", "x", corpus=None, load_topics=list, measures=("AP", "ERR@10"))
    assert measures_of(collection, [], {}, {"1": {"a": 4}}) == ["AP", "ERR@10"]
    with pytest.raises(InputError, match="ERR@10 takes grades up to 4; the judgments of 'x' have"):
        measures_of(collection, [], {}, QRELS)
