"""`platform tira`: rank the input of a TIRA sandbox."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import RERANKER
from irplatform.cli.options import PATH, options_of
from irplatform.cli.output import json_option, print_json
from irplatform.cli.settings import run_settings
from irplatform.errors import counted
from irplatform.settings import WHAT
from irplatform.system.console import notice, say_text

if TYPE_CHECKING:
    from pathlib import Path


@command(
    "platform tira --input $inputDataset --output $outputDir --reranker dlh13",
    "platform tira --input in --output out --reranker delta --checkpoint delta",
)
@with_options(
    click.option(
        "--input",
        "source",
        required=True,
        type=PATH,
        envvar=["inputDataset", "TIRA_INPUT_DATASET"],
        help="TIRA's input folder: documents.jsonl and queries.jsonl, or rerank.jsonl; LongEval's "
        "has documents and queries.txt.  [default: $inputDataset]",
    ),
    click.option(
        "--output",
        "out",
        required=True,
        type=PATH,
        envvar=["outputDir", "TIRA_OUTPUT_DIR"],
        help="The folder for run.txt and ir-metadata.yml.  [default: $outputDir]",
    ),
    click.option(
        "--reranker",
        type=RERANKER,
        help="The reranker to apply; without one, the first stage is the result.",
    ),
    click.option("--tag", help="The run tag; default: the system's name."),
    json_option,
    group=WHAT,
    example="--reranker delta --checkpoint /trained/delta",
)
@options_of("explain")
def tira(source: Path, out: Path, reranker: str | None, as_json: bool, **options: Any) -> None:
    """Rank TIRA's input, and write run.txt and ir-metadata.yml.

    In a full-rank input, documents are searched and reranked; in a re-rank input, all candidates
    are reranked, or the first of --rerank-depth. IRPLATFORM_TEAM and IRPLATFORM_REPOSITORY say who
    you are.
    """
    from irplatform.tasks.tira import rank_input

    rerankers = () if reranker is None else (reranker,)
    command = ("platform", *sys.argv[1:])
    settings = run_settings({**options, "collection": ""}, rerankers=rerankers, command=command)
    depth_from = click.get_current_context().get_parameter_source("rerank_depth")
    every = depth_from is ParameterSource.DEFAULT
    facts = rank_input(source, out, settings, all_candidates=every)
    if as_json:
        print_json(facts)
    else:
        topics = counted(facts["topics"], "topic")
        say_text(f"{out}: {' and '.join(facts['files'])}, {topics} of a {facts['form']} input")
    if facts["missing"]:
        variables = " and ".join(f"IRPLATFORM_{name.upper()}" for name in facts["missing"])
        notice(
            f"WARNING: ir-metadata.yml lacks your {' and '.join(facts['missing'])}, which some "
            f"tasks require. Set {variables}."
        )
