"""`BioASQ-AP` is what BioASQ's own program computes."""

import random

import pytest

from irplatform.runs import Ranking, Run
from irplatform_bioasq import average_precisions


def bioasqs_own(golden, answered):
    """`calculateAveragePrecision` of Evaluation-Measures, version 8, line by line."""
    total = 0.0
    for i in range(len(answered)):
        first = answered[: i + 1]
        precision = sum(item in golden for item in first) / len(first)
        total += precision * (answered[i] in golden)
    if not any(item in golden for item in answered):
        return 0.0
    return total / min(10.0, len(golden))


def as_run(rankings):
    return Run(
        "answers",
        {
            topic: Ranking.of(documents, [float(-n) for n in range(len(documents))])
            for topic, documents in rankings.items()
        },
    )


def test_it_is_that_of_bioasqs_program_on_random_answers():
    draw = random.Random(5)
    pool = [f"{n}" for n in range(30)]
    golden = {f"q{n}": draw.sample(pool, draw.randint(1, 25)) for n in range(200)}
    answered = {topic: draw.sample(pool, draw.randint(1, 10)) for topic in golden}
    qrels = {
        topic: {**dict.fromkeys(pool, 0), **dict.fromkeys(relevant, 1)}
        for topic, relevant in golden.items()
    }
    values = average_precisions(qrels, as_run(answered))
    assert values == pytest.approx({t: bioasqs_own(golden[t], answered[t]) for t in golden})
    assert len(set(values.values())) > 50


def test_ten_relevant_documents_are_perfect_and_later_ones_do_not_count():
    relevant = [f"{n}" for n in range(20)]
    qrels = {"q": dict.fromkeys(relevant, 2), "silent": {"1": 1}, "none": {"1": 0}}
    run = as_run({"q": relevant, "none": ["1"]})
    assert average_precisions(qrels, run) == {"q": 1.0, "silent": 0.0, "none": 0.0}
    late = as_run({"q": [f"x{n}" for n in range(10)] + relevant})
    assert average_precisions({"q": qrels["q"]}, late) == {"q": 0.0}
