"""`platform qrels`: judgments built from clicks, citations and machines, and pools to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import Group, with_options
from irplatform.cli.names import COLLECTION, RETRIEVER, list_option
from irplatform.cli.options import (
    PATH,
    choice_option,
    flag_option,
    number_option,
    options_of,
    seed_option,
)
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.cli.qrels_judge import judge
from irplatform.cli.qrels_write import write
from irplatform.judging.pool_settings import POOLED, PoolSettings
from irplatform.settings import OUTPUT
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.building.judgments import Report


@click.group(cls=Group)
def qrels() -> None:
    """Build judgments from click logs and citations, and pools of documents to judge."""


@qrels.command(
    "from-citations",
    examples=["platform qrels from-citations articles/ --collection my-folder --out citations"],
)
@click.argument("files", nargs=-1, required=True, type=PATH)
@with_options(
    click.option("--out", required=True, type=PATH, help="The folder to create."),
    click.option(
        "--split",
        default="80/10/10",
        show_default=True,
        help="Percentages of citing articles for train, dev and test.",
    ),
    seed_option(),
    json_option,
    group="Input and output",
    example="--split 60/20/20",
)
@with_options(
    click.option(
        "--collection", type=COLLECTION, help="The collection of the documents: a name, path or id."
    ),
    click.option(
        "--ids",
        type=PATH,
        help="A table of PMID, PMCID and DOI, such as PubMed Central's PMC-ids.csv.gz.",
    ),
    flag_option("--titles", text="Also find cited articles by their titles."),
    number_option(
        "--min-cited-words",
        "least_cited",
        default=50,
        least=0,
        text="Minimum number of words in a cited title and abstract.",
    ),
    group="Which articles are cited",
    example="--collection my-folder --titles",
)
@with_options(
    number_option(
        "--min-words",
        "least",
        default=5,
        least=0,
        text="Leave out sentences with fewer words, stop words not counted.",
    ),
    number_option(
        "--max-words",
        "most",
        default=50,
        least=0,
        text="Leave out sentences with more words, stop words not counted.",
    ),
    group="Which sentences count",
    example="--min-words 3",
)
@with_options(
    flag_option("--skip-unreadable", text="Skip unreadable files, and count them."),
    click.option("--workers", type=click.IntRange(1), help="Processes; default: one per core."),
    group="Machine",
)
def from_citations(
    files: tuple[Path, ...], out: Path, split: str, as_json: bool, **options: Any
) -> None:
    """Build judgments from the citing sentences of articles in JATS XML.

    FILES are .xml and .nxml files (also .gz), folders of them, and .tar or .tar.gz archives as
    PubMed Central distributes them.
    """
    from irplatform.building.citations import CitationSettings
    from irplatform.building.citations import from_citations as make
    from irplatform.building.judgments import Shares

    arguments = {name: options.pop(name) for name in ("collection", "ids", "workers")}
    report = make(files, out, CitationSettings(**options, shares=Shares.parse(split)), **arguments)
    _print_report(report, out, as_json=as_json)


@qrels.command(
    "from-clicks", examples=["platform qrels from-clicks log.tsv.gz --collection demo --out clicks"]
)
@click.argument("log", type=PATH)
@with_options(
    click.option("--out", required=True, type=PATH, help="The folder to create."),
    click.option(
        "--collection", type=COLLECTION, help="The collection of the documents: a name, path or id."
    ),
    click.option(
        "--split",
        default="60/20/20",
        show_default=True,
        help="Percentages of queries for train, dev and test.",
    ),
    seed_option(),
    json_option,
    group="Input and output",
)
@with_options(
    click.option(
        "--held-out",
        type=COLLECTION,
        help="Leave out the queries of this collection, to evaluate on them later.",
    ),
    number_option("--max-words", default=7, least=0, text="Leave out queries with more words."),
    flag_option("--keep-boolean", text="Keep queries with AND, OR or NOT."),
    flag_option("--keep-tags", text="Keep queries with field tags: smith j[au]."),
    number_option("--min-documents", default=21, text="Minimum number of distinct documents."),
    number_option("--min-clicked", default=3, text="Minimum number of clicked documents."),
    group="Which queries count",
    example="--max-words 5 --min-clicked 2",
)
@with_options(
    choice_option(
        "--levels",
        choices=["2018", "2017", "binary"],
        text="Level of a document: 1 + 99 times its share of the query's clicks (2018), its "
        "weighted clicks (2017), or clicked or not (binary).",
    ),
    number_option(
        "--mu", default=0.33, text="Weight of abstract clicks; full-text clicks weigh 1 - mu."
    ),
    number_option(
        "--lambda",
        "lambda_",
        default=15.0,
        text="Abstract clicks weigh 1/lambda more without a full text.",
    ),
    group="What a click is worth",
    example="--levels 2017 --mu 0.5",
)
def from_clicks(
    log: Path, out: Path, collection: str | None, as_json: bool, **options: Any
) -> None:
    """Build graded judgments from a click log (.tsv or .tsv.gz).

    The log has a header with the columns query, doc_id, rank, abstract_clicks, fulltext_clicks and
    has_fulltext, in any order, and a line for each document shown for a query.
    """
    from irplatform.building.click_judgments import JudgingRules, QueryRules, Weights
    from irplatform.building.clicks import ClickSettings, held_out_queries
    from irplatform.building.clicks import from_clicks as make
    from irplatform.building.judgments import Shares

    held_out = options["held_out"]
    left_out = held_out_queries(held_out) if held_out else frozenset()
    words, boolean, tags = (options[n] for n in ("max_words", "keep_boolean", "keep_tags"))
    rules = QueryRules(words, boolean, tags, left_out)
    weights = Weights(options["mu"], options["lambda_"])
    judging = JudgingRules(
        options["min_documents"], options["min_clicked"], weights, options["levels"]
    )
    settings = ClickSettings(rules, judging, Shares.parse(options["split"]), options["seed"])
    report = make(log, out, settings, collection)
    _print_report(report, out, as_json=as_json)


def _print_report(report: Report, out: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(report.record)
        return
    for table in report.tables:
        print_rows(table)
        say_text()
    for note in report.record["notes"]:
        say_text(f"Note: {note}.")
    say_text(f"{out}")


@qrels.command(
    "pool",
    examples=[
        "platform qrels pool runs/demo -o pool --depth 10",
        "platform qrels pool a.run b.run -o pool --method worth --budget 300",
        "platform qrels pool --judged judgments.jsonl -o pool",
    ],
)
@click.argument("runs", nargs=-1, type=PATH)
@with_options(
    click.option("--out", "-o", required=True, type=PATH, help="The folder of the pool."),
    json_option,
    group=OUTPUT,
)
@options_of(
    "pool",
    settings=PoolSettings,
    examples={POOLED: "--method stratified --strata 10:1,50:0.3"},
)
def pool(runs: tuple[Path, ...], out: Path, as_json: bool, **options: Any) -> None:
    """Choose the documents to judge from what runs rank.

    RUNS are TREC runs or folders of `platform run`. Writes the pool, and says what judging costs
    and what it can decide. Without RUNS, adds the next round to a pool that learns.
    """
    from irplatform import next_batch, pool_runs
    from irplatform.errors import InputError, counted

    if runs:
        report = pool_runs(runs, out, **options)
        facts, text = report.facts, str(report)
    else:
        source = click.get_current_context().get_parameter_source
        names = [o for o in options if source(o) is click.core.ParameterSource.COMMANDLINE]
        if names != ["judged"]:
            raise InputError(
                "name the runs to pool; without runs, --judged alone adds the next round to a pool."
            )
        added = next_batch(out, options["judged"])
        facts = {"path": str(out), "added": added}
        text = f"{counted(added, 'document')} added."
    if as_json:
        print_json(facts)
    else:
        say_text(f"{text}\n{out}")


@qrels.command(
    "simulate-clicks",
    examples=["platform qrels simulate-clicks --collection demo --out log.tsv.gz"],
)
@with_options(
    click.option(
        "--collection",
        required=True,
        type=COLLECTION,
        help="The collection of the documents: a name, path or id.",
    ),
    click.option(
        "--out", required=True, type=PATH, help="The log file to write (.tsv or .tsv.gz)."
    ),
    seed_option(),
    json_option,
    group="Input and output",
)
@with_options(
    click.option(
        "--retriever",
        type=RETRIEVER,
        default="bm25",
        show_default=True,
        metavar="NAME[+NAME…]",
        help="The retriever of the shown rankings. Documents of several (bm25+rm3) are shown by "
        "their best rank.",
    ),
    click.option(
        "--set",
        "options",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set an option of the retriever (see `retrievers show`); repeat for several.",
    ),
    click.option("--threads", type=click.IntRange(1), help="Search threads; default: all cores."),
    number_option("--sessions", default=50, text="Sessions per topic."),
    number_option("--page", default=20, text="Documents shown per session."),
    number_option("--depth", default=100, text="Documents per topic that can be shown."),
    number_option(
        "--shuffle", default=0.5, text="Variation of the ranking between sessions; 0 is none."
    ),
    group="What users are shown",
    example="--sessions 20 --page 10",
)
@with_options(
    choice_option(
        "--model",
        choices=["position", "cascade"],
        text="Click model: users look at a rank with probability rank^-decay (position), or at "
        "one rank after another until a click (cascade).",
    ),
    number_option("--decay", default=1.0, text="Fall of attention with rank (position model)."),
    number_option(
        "--stop", default=1.0, text="Probability of stopping after a click (cascade model)."
    ),
    number_option(
        "--noise", default=0.1, text="Probability of a click on a document that is not relevant."
    ),
    list_option(
        "--click-probability",
        "by_grade",
        metavar="GRADE=P,…",
        help="Probability of a click on a document of a grade; default: derived from the grade.",
    ),
    group="How users click",
    example="--model cascade --stop 0.5",
)
@with_options(
    number_option(
        "--fulltext",
        default=0.5,
        text="Probability of opening the full text of a document of the highest grade.",
    ),
    number_option("--fulltext-share", default=0.5, text="Share of documents with a full text."),
    group="Full texts",
)
def simulate_clicks(
    collection: str,
    out: Path,
    retriever: str,
    options: tuple[str, ...],
    threads: int | None,
    as_json: bool,
    **drawn: Any,
) -> None:
    """Simulate a click log of a judged collection with a click model.

    Use it if you have no log: `from-clicks` turns it into judgments as noisy as clicks.
    """
    from irplatform.building.click_simulation import Behaviour, SessionSettings, parse_by_grade
    from irplatform.building.click_simulation import simulate_clicks as simulate
    from irplatform.cli.settings import read_settings
    from irplatform.errors import counted

    _refuse_other_models_option(drawn["model"])
    by_grade = parse_by_grade(drawn.pop("by_grade"))
    of_users = {n: drawn.pop(n) for n in ("model", "decay", "stop", "noise", "fulltext")}
    counts = simulate(
        collection,
        out,
        SessionSettings(**drawn, behaviour=Behaviour(**of_users, by_grade=by_grade)),
        retriever=retriever,
        options=read_settings(options, None, retriever.split("+")),
        threads=threads,
    )
    if as_json:
        print_json({"path": str(out), **counts})
    else:
        say_text(
            f"{out}: {counted(counts['lines'], 'line')} of {counted(counts['topics'], 'topic')}"
        )


qrels.add_command(judge)
qrels.add_command(write)


def _refuse_other_models_option(model: str) -> None:
    from irplatform.errors import InputError

    option = "stop" if model == "position" else "decay"
    source = click.get_current_context().get_parameter_source(option)
    if source is click.core.ParameterSource.COMMANDLINE:
        raise InputError(f"--{option} has no effect with --model {model}.")
