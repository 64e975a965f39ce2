"""Measures of BioASQ's task b, phase A.

`BioASQ-AP` scores runs by their documents; its mean is the task's official MAP. `platform bioasq`
scores answers, with their snippets.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from irplatform.plugin import hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.kit import Snippet
    from irplatform.plugin import RegisterMeasure, Run

DEPTH = 10  # documents that may be submitted for a question
_COLUMNS = ("questions", "precision", "recall", "F1", "MAP", "GMAP")


@hookimpl
def register_measures(register: RegisterMeasure) -> None:
    """Register `BioASQ-AP`."""
    register("BioASQ-AP", average_precisions)


@hookimpl
def register_commands(cli: click.Group) -> None:
    """Register `platform bioasq`."""
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


@click.command("bioasq", short_help="Score answers to BioASQ: documents and snippets.")
@click.argument("answers", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--golden", required=True, type=click.Path(path_type=Path), help="BioASQ's golden file."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, and nothing else."
)
def score_answers(answers: tuple[Path, ...], golden: Path, as_json: bool) -> None:
    """Score answers to phase A of BioASQ's task b by BioASQ's measures.

    ANSWERS are JSON files as `platform submit bioasq` writes them. MAP is the official measure of
    documents, F1 that of snippets.
    """
    from irplatform.kit import read_questions
    from irplatform.plugin import InputError
    from irplatform_bioasq.scoring import mean_scores, score_documents, score_snippets

    def read(path: Path) -> tuple[dict[str, list[str]], dict[str, Sequence[Snippet]]]:
        questions = read_questions(path, bodies=False, snippets=True)
        return (
            {q.id: [doc_id for doc_id, grade in q.documents.items() if grade] for q in questions},
            {question.id: question.snippets for question in questions},
        )

    golden_documents, golden_snippets = read(golden)
    if not any(golden_documents.values()):
        raise InputError("no question has documents here; name the judged file.", path=golden)
    rows: list[dict[str, Any]] = []
    for path in answers:
        documents, snippets = read(path)
        of_documents = score_documents(golden_documents, documents)
        of_snippets = score_snippets(golden_snippets, snippets)
        rows.append(
            {
                "path": str(path),
                "documents": asdict(mean_scores(of_documents.values())),
                "snippets": asdict(mean_scores(of_snippets.values())),
            }
        )
    if as_json:
        click.echo(json.dumps({"answers": rows}, indent=1))
        return
    width = max(len(row["path"]) for row in rows)
    for part in ("documents", "snippets") if any(golden_snippets.values()) else ("documents",):
        heads = "".join(f"{head:>11}" for head in _COLUMNS)
        click.echo(f"{part:<{width}}{heads}")
        for row in rows:
            questions, *values = row[part].values()
            cells = "".join(f"{value:>11.4f}" for value in values)
            click.echo(f"{row['path']:<{width}}{questions:>11,}{cells}")
