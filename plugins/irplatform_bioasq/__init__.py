"""Measures of BioASQ's task b, phase A.

`BioASQ-AP` scores runs by their documents; its mean is the task's official MAP. `platform bioasq`
scores answers, with their snippets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.plugin import hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping

    import click

    from irplatform.plugin import RegisterMeasure
    from irplatform.runs import Run

DEPTH = 10  # documents that may be submitted for a question


@hookimpl
def register_measures(register: RegisterMeasure) -> None:
    """Register `BioASQ-AP`."""
    register("BioASQ-AP", average_precisions)


@hookimpl
def register_commands(cli: click.Group) -> None:
    """Register `platform bioasq`."""
    from irplatform_bioasq.commands import score_answers

    cli.add_command(score_answers)


def average_precisions(qrels: Mapping[str, Mapping[str, float]], run: Run) -> dict[str, float]:
    """Average precision of each judged topic as BioASQ computes it since its eighth year (2020).

    The first ten documents count, and the sum of precisions is divided by the number of relevant
    documents or by ten, whichever is less: ten relevant ones are a perfect answer. A topic without
    results or without relevant documents has 0.

    Source: `calculateAveragePrecision` of BioASQ's Evaluation-Measures, version 8.
    """
    values = {}
    for topic, grades in qrels.items():
        ranking = run.rankings.get(topic)
        relevant = sum(grade > 0 for grade in grades.values())
        hits, total = 0, 0.0
        for rank, doc_id in enumerate(ranking.doc_ids[:DEPTH] if ranking else (), start=1):
            if grades.get(doc_id, 0) > 0:
                hits += 1
                total += hits / rank
        values[topic] = total / min(relevant, DEPTH) if relevant else 0.0
    return values
