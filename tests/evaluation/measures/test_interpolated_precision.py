"""IPrec of all topics at once equals that of each topic by itself."""

import random

import pytest

from irplatform.evaluation.measures.trec_eval.iprec import interpolated_precision
from irplatform.evaluation.scoring import evaluate
from irplatform.runs import Ranking, Run


def _judged(seed):
    draw = random.Random(seed)
    documents = [f"d{n}" for n in range(30)]
    qrels = {
        str(topic): {
            d: draw.randrange(-1, 3) for d in draw.sample(documents, draw.randrange(1, 20))
        }
        for topic in range(12)
    }
    rankings = {
        topic: Ranking.of(sample := draw.sample(documents, draw.randrange(25)), range(len(sample)))
        for topic in [*qrels][:-1]
    }
    return qrels, Run("x", rankings)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "name", ["IPrec@0.0", "IPrec@0.15", "IPrec@0.5", "IPrec(rel=2)@0.5", "IPrec@1.0"]
)
def test_all_topics_at_once(seed, name):
    import ir_measures

    qrels, run = _judged(seed)
    measure = ir_measures.parse_measure(name)
    values = evaluate(qrels, run, [name]).per_topic
    expected = {
        topic: interpolated_precision(measure, grades, run.rankings[topic].doc_ids)
        if topic in run.rankings
        else 0.0
        for topic, grades in qrels.items()
    }
    assert [*values.values()] == [expected]
