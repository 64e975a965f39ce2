"""Scoring of runs: judgments, measures and significance."""

from irplatform.evaluation.gain import dcg, ndcg
from irplatform.evaluation.measures import MeasureFunction, parse_measures
from irplatform.evaluation.qrels import read_qrels
from irplatform.evaluation.scoring import Evaluation, evaluate
from irplatform.evaluation.significance import Comparison, compare, holm, paired_test

__all__ = [
    "Comparison",
    "Evaluation",
    "MeasureFunction",
    "compare",
    "dcg",
    "evaluate",
    "holm",
    "ndcg",
    "paired_test",
    "parse_measures",
    "read_qrels",
]
