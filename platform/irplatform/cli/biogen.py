"""`platform submit biogen`: citations for the sentences of answers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import RERANKER, list_option
from irplatform.cli.options import PATH, collection_option, force_option, options_of
from irplatform.cli.output import json_option, print_json
from irplatform.cli.settings import run_settings
from irplatform.errors import InputError, counted
from irplatform.settings import OUTPUT, WHAT
from irplatform.system.console import notice, say_text

if TYPE_CHECKING:
    from pathlib import Path


@command(
    "platform submit biogen answers.json --collection pubmed.toml --out run.jsonl",
    "platform submit biogen a.json --collection p.toml --run a.run --out b.jsonl",
)
@click.argument("answers", type=PATH)
@with_options(
    collection_option,
    click.option(
        "--run",
        "candidates",
        type=PATH,
        help="A run over the questions: the articles of a sentence are among its first documents "
        "(--rerank-depth). Without it, the collection is searched for each sentence.",
    ),
    list_option(
        "--reranker",
        "rerankers",
        type=RERANKER,
        help="The reranker that chooses.  [default: none; with --run bm25-text]",
    ),
    group=WHAT,
    example="--collection pubmed.toml --reranker delta",
)
@options_of("explain")
@with_options(
    click.option("--out", required=True, type=PATH, help="The file to write."),
    click.option("--tag", help="The run's id; default: the system's name."),
    click.option(
        "--citations",
        "most",
        default=3,
        show_default=True,
        type=click.IntRange(1, 3),
        help="Citations of a sentence.",
    ),
    force_option("a file at --out that has other content"),
    json_option,
    group=OUTPUT,
    example="--out run.jsonl --tag mygroup1",
)
def biogen(
    answers: Path,
    candidates: Path | None,
    rerankers: tuple[str, ...],
    out: Path,
    tag: str | None,
    most: int,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Cite up to three articles for each sentence of TREC BioGen's answers.

    ANSWERS are question-answer pairs of task A (2025), or answers for task B (2025) or 2024 whose
    sentences need citations. They are written in the same form. Contradicting articles are not
    looked for.
    """
    from irplatform.cli.config import ask_for
    from irplatform.run_folder.campaigns import known_facts
    from irplatform.tasks.biogen import cite

    ask_for("team")
    if "team" not in (facts := known_facts()):
        raise InputError("BioGen asks for your team: `platform config set team VALUE`.")
    command_line = ("platform", *sys.argv[1:])
    settings = run_settings(options, rerankers=rerankers, command=command_line)
    counts = cite(
        answers,
        out,
        settings,
        team=facts["team"],
        tag=tag,
        candidates=candidates,
        most=most,
        force=force,
    )
    if as_json:
        print_json(counts)
        return
    parts = [counted(counts[name], name[:-1]) for name in ("citations", "sentences", "topics")]
    say_text(f"{out}: {parts[0]} for {parts[1]} of {parts[2]}")
    if not counts["citations"]:
        notice("WARNING: no article was found whose id is a PMID; choose a collection of PubMed's.")
