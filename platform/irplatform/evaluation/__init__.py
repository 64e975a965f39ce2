"""Scoring of runs: judgments, measures and significance."""

from irplatform.evaluation.gain import dcg, ndcg
from irplatform.evaluation.measures import (
    MeasureFunction,
    default_measures,
    measures_of,
    parse_measures,
)
from irplatform.evaluation.paired_tests import Comparison, paired_test
from irplatform.evaluation.qrels import read_qrels
from irplatform.evaluation.sampled_qrels import (
    SampledQrels,
    is_sampled,
    judged_documents,
    read_sampled_qrels,
)
from irplatform.evaluation.scoring import Evaluation, evaluate, mean_evaluation
from irplatform.evaluation.significance import compare, holm

__all__ = [
    "Comparison",
    "Evaluation",
    "MeasureFunction",
    "SampledQrels",
    "compare",
    "dcg",
    "default_measures",
    "evaluate",
    "holm",
    "is_sampled",
    "judged_documents",
    "mean_evaluation",
    "measures_of",
    "ndcg",
    "paired_test",
    "parse_measures",
    "read_qrels",
    "read_sampled_qrels",
]
