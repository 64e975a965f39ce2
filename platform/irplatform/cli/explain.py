"""`platform explain`: explain a reranker's scores."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import RERANKER, list_option
from irplatform.cli.options import (
    OUTPUT,
    collection_option,
    machine_options,
    preset_option,
    ranking_options,
    system_settings,
)
from irplatform.cli.output import cut, json_option, one_line, print_json
from irplatform.cli.settings import run_settings
from irplatform.system.console import say_text, terminal_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_TITLE = 300
"""Characters of a title that are shown."""


@command("platform explain --collection demo --reranker delta --topic 1 --doc 25121597")
@with_options(
    collection_option,
    click.option(
        "--reranker", required=True, type=RERANKER, help="The reranker whose scores to explain."
    ),
    click.option("--topic", required=True, help="The id of a topic of the collection."),
    list_option(
        "--doc",
        "documents",
        required=True,
        metavar="ID,…",
        help="Document ids. Put an id that contains a comma in double quotes.",
    ),
    click.option(
        "--member",
        type=click.IntRange(1),
        help="Which of several trained models to explain; default: the one nearest to their mean.",
    ),
    system_settings,
    preset_option,
    group="What to explain",
)
@ranking_options
@with_options(json_option, group=OUTPUT)
@machine_options
def explain(
    reranker: str,
    topic: str,
    documents: tuple[str, ...],
    member: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Explain why a reranker ranks documents of a topic where it does.

    The options for training are those of `run`; a model that a run has trained is taken from the
    cache.
    """
    from irplatform.api import explain as explain_documents

    settings = run_settings(options, rerankers=(reranker,))
    facts = explain_documents(settings, topic, documents, member=member)
    if as_json:
        print_json(facts)
        return
    for line in _lines(facts):
        say_text(line)


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    from irplatform.reports.explanation import lines_of

    room = terminal_width(sys.stdout)
    yield f"topic {facts['topic']['id']}: {one_line(facts['topic']['query'])}"
    training_note = f", trained on {facts['trained_on']}" if facts["trained_on"] else ""
    share = f"the first stage's share is {facts['interpolation']:.2f}"
    yield f"{facts['reranker']}{training_note}; {share}"
    if facts["members"] > 1:
        yield f"member {facts['explained_member']} of {facts['members']} is explained"
    for document in facts["documents"]:
        yield ""
        title = cut(one_line(document["title"]), _TITLE)
        yield f"document {document['id']}{f': {title}' if title else ''}"
        grade = "not judged" if document["grade"] is None else f"grade {document['grade']}"
        yield f"  {grade}; {_places(document, facts)}"
        for line in lines_of(document["explanation"], room and room - len("  ")):
            yield f"  {line}".rstrip()


def _places(document: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Ranks and scores in a sentence."""
    first, second = document["first_stage"], document["reranker"]
    if second["rank"] is None:
        place = "not found" if first["rank"] is None else f"{first['rank']} (not reranked)"
        return f"first stage: {place}; {facts['reranker']} would give it {second['score']:.4f}"
    score = f"{second['among_candidates']:.4f}"
    if second["among_candidates"] != second["score"]:
        score += f"; {second['score']:.4f} by itself"
    return (
        f"first stage: {first['rank']} ({first['score']:.4f}); {facts['reranker']}: "
        f"{second['rank']} of {facts['candidates']} ({score}); "
        f"mixed: {document['final']['rank']}"
    )
