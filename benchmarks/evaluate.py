"""Scoring: milliseconds of `evaluate` for 50 topics with 1,000 documents, against bare ir-measures.

Both score the same generated run, without ties, by the same judgments and measures, and must give
the same values. The peer is handed the run in the form that it computes on, a dictionary of scores
per topic; ours starts from a `Run`, orders ties as trec_eval does, and ends with means, values per
topic, and the topics without results.
"""

from __future__ import annotations

import gc
import sys
import time
from statistics import median
from typing import TYPE_CHECKING

import ir_measures
import numpy as np

from _common import parser, report
from irplatform.evaluation.scoring import evaluate
from irplatform.runs import Ranking, Run

if TYPE_CHECKING:
    from collections.abc import Callable

MEASURES = ("nDCG@20", "AP", "P@10", "Rprec")
JUDGED = 400
"""Of a topic, half of them retrieved; TREC PM 2018 has 450."""
TOLERANCE = 1e-9


def generate(topics: int, documents: int) -> tuple[Run, dict[str, dict[str, int]]]:
    """A run with falling scores, and judgments of what it retrieved and of other documents."""
    random = np.random.default_rng(1)
    rankings, qrels = {}, {}
    for topic in range(topics):
        ids = [str(number) for number in random.choice(30_000_000, documents, replace=False)]
        rankings[str(topic)] = Ranking.of(ids, np.arange(documents, 0, -1) / 7)
        retrieved = random.choice(ids, min(JUDGED // 2, documents), replace=False).tolist()
        judged = [*retrieved, *(f"other-{number}" for number in range(JUDGED // 2))]
        grades = random.choice(3, len(judged), p=[0.7, 0.2, 0.1]).tolist()
        qrels[str(topic)] = dict(zip(judged, grades, strict=True))
    return Run("generated", rankings), qrels


def measure(
    sides: dict[str, Callable[[], object]], rounds: int
) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of each side, in turns: as the wall clock has it, and of the processor."""
    milliseconds: dict[str, dict[str, list[float]]] = {
        n: {"wall": [], "processor": []} for n in sides
    }
    for turn in range(rounds + 2):
        for name, call in sides.items():
            gc.collect()
            wall, processor = time.perf_counter(), time.process_time()
            call()
            elapsed = (time.perf_counter() - wall, time.process_time() - processor)
            if turn >= 2:  # the first ones warm up
                for clock, seconds in zip(("wall", "processor"), elapsed, strict=True):
                    milliseconds[name][clock].append(seconds * 1000)
    return milliseconds


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.set_defaults(rounds=30)
    command_line.add_argument("--topics", type=int, default=50)
    command_line.add_argument("--documents", type=int, default=1000)
    arguments = command_line.parse_args()

    run, qrels = generate(arguments.topics, arguments.documents)
    parsed = [ir_measures.parse_measure(name) for name in MEASURES]
    plain = {topic: dict(ranking) for topic, ranking in run.rankings.items()}
    scores = evaluate(qrels, run, MEASURES).per_topic
    for metric in ir_measures.iter_calc(parsed, qrels, plain):
        difference = abs(scores[str(metric.measure)][metric.query_id] - metric.value)
        if difference > TOLERANCE:
            sys.exit(f"the sides disagree: {metric} differs by {difference:.2g}")
    milliseconds = measure(
        {
            "ours": lambda: evaluate(qrels, run, MEASURES),
            "peer": lambda: ir_measures.calc(parsed, qrels, plain),
        },
        arguments.rounds,
    )
    medians = {
        name: {clock: round(median(values), 2) for clock, values in clocks.items()}
        for name, clocks in milliseconds.items()
    }
    report(
        "evaluate",
        medians["ours"]["processor"],
        medians["peer"]["processor"],
        "ms",
        higher_is_better=False,
        milliseconds=medians,
        quickest={n: round(min(clocks["wall"]), 2) for n, clocks in milliseconds.items()},
        topics=arguments.topics,
        documents=arguments.documents,
        measures=list(MEASURES),
    )


if __name__ == "__main__":
    main()
