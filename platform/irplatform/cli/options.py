"""Options that several commands share.

A command's help lists options in the order of their decorators, under the headings of their groups.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import with_options
from irplatform.cli.names import (
    CANDIDATES,
    COLLECTION,
    DEVICE,
    KNOWLEDGE,
    MEASURE,
    PRESET,
    PRETRAINING,
    RETRIEVER,
    STAGE,
    TASK,
    list_option,
)
from irplatform.errors import InputError
from irplatform.runs.fusion import fusion_methods

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from irplatform.cli.commands import Declared


class NamedPath(click.Path):
    """A path that is not empty, as an unset shell variable is."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Return the path; InputError if it is empty."""
        if value == "":
            name = param.opts[0] if isinstance(param, click.Option) else "a path"
            raise InputError(f"{name} is empty; name a file or a folder.")
        return super().convert(value, param, ctx)


PATH = NamedPath(path_type=Path)
WHAT = "What to run"
FIRST_STAGE = "First stage"
RERANKING = "Reranking"
LEARNING = "Learning"
OUTPUT = "Output"
MACHINE = "Machine"


def knowledge_option(*declarations: str, **attributes: Any) -> Callable[[Declared], Declared]:
    """Declare an option that lists knowledge bases, each once."""
    return list_option(
        *declarations,
        type=KNOWLEDGE,
        callback=lambda _context, _option, values: tuple(dict.fromkeys(values)),
        **attributes,
    )


expansion_options = with_options(
    knowledge_option(
        "--expand",
        help="Expand queries with these knowledge bases, such as mesh,doid,hgnc, or none. "
        "Default: only for rerankers made for it (graphene).",
    ),
    click.option(
        "--query-plan", type=PATH, help="A TOML file with the weights of expanded queries."
    ),
)

collection_option = click.option(
    "--collection", required=True, type=COLLECTION, help="A name, a path or an ir_datasets id."
)

preset_option = click.option(
    "--preset",
    type=PRESET,
    help="Named settings of rerankers, such as paper; your own settings take precedence.",
)

config_option = click.option(
    "--config", type=PATH, help="A TOML file of such settings; --set takes precedence."
)


def number_option(
    *declarations: str, default: float, text: str, least: int | None = None
) -> Callable[[Declared], Declared]:
    """Declare an option for a number of the type of its default; `least` is a whole number."""
    kind = None if least is None else click.IntRange(least)
    return click.option(*declarations, default=default, show_default=True, type=kind, help=text)


def flag_option(*declarations: str, text: str) -> Callable[[Declared], Declared]:
    """Declare a switch."""
    return click.option(*declarations, is_flag=True, help=text)


def choice_option(
    *declarations: str, choices: Sequence[str], text: str
) -> Callable[[Declared], Declared]:
    """Declare an option with some words as values; the first one is the default."""
    return click.option(
        *declarations, type=click.Choice(choices), default=choices[0], show_default=True, help=text
    )


task_options = with_options(
    click.option("--task", type=TASK, help="The task whose rules hold; see `platform tasks list`."),
    click.option("--topics", type=PATH, help="The task's file of topics, all to be answered."),
    click.option(
        "--collection", type=COLLECTION, help="A collection, whose topics the runs must answer."
    ),
    flag_option("--documents", text="Also look up every document in the collection's index."),
)


def device_option(default: str = "auto", more: str = "") -> Callable[[Declared], Declared]:
    """Declare `--device`."""
    text = f"Device for models: auto, cpu, cuda or mps.{more}"
    return click.option("--device", type=DEVICE, default=default, show_default=True, help=text)


def seed_option(of: str = "Random seed.") -> Callable[[Declared], Declared]:
    """Declare `--seed`."""
    return click.option(
        "--seed", default=42, show_default=True, type=click.IntRange(0, 2**32 - 1), help=of
    )


def force_option(what: str) -> Callable[[Declared], Declared]:
    """Declare `--force`, which replaces something."""
    return flag_option("--force", text=f"Replace {what}.")


identical_ids_option = flag_option(
    "--ignore-identical-ids",
    text="Leave the document with a topic's own id out of its results, as BEIR does: for "
    "collections whose topics are documents.",
)


def setting_option(of: str, listed: str, name: str = "settings") -> Callable[[Declared], Declared]:
    """Declare `--set` for "a reranker", whose options "rerankers show" lists."""
    return click.option(
        "--set",
        name,
        multiple=True,
        metavar="NAME=VALUE",
        help=f"Set an option of {of} (see `{listed}`); repeat for several.",
    )


def interpolate_option(chosen: str) -> Callable[[Declared], Declared]:
    """Declare `--interpolate`, with a note on "auto"."""
    return click.option(
        "--interpolate",
        default="auto",
        show_default=True,
        metavar="W",
        help="Weight of the first stage in the final scores, from 0 (reranker alone) to 1 (first "
        f"stage alone); {chosen}.",
    )


def train_on_option(explained: str) -> Callable[[Declared], Declared]:
    """Declare `--train-on`, with a note on its use and default."""
    return list_option(
        "--train-on",
        type=COLLECTION,
        help=f"{explained} Several collections must have the same documents.",
    )


train_topics_option = click.option(
    "--train-topics",
    type=click.IntRange(1),
    metavar="N",
    help="Learn from N training topics, drawn at random by the seed; default: all.",
)


MEASURES_OF_RUNS = (
    "Measures, such as nDCG@20,AP; default: those that the runs were reported by, or the "
    "collection's."
)


def measures_option(
    help_text: str = "Measures, such as nDCG@20,AP; default: the collection's.",
) -> Callable[[Declared], Declared]:
    """Declare `--measure` for several measures."""
    return list_option("--measure", "measures", type=MEASURE, help=help_text)


system_settings = with_options(
    setting_option("a retriever or reranker", "rerankers show"), config_option
)

retrieving_options = with_options(
    list_option(
        "--first-stage",
        "first_stages",
        type=STAGE,
        metavar="NAME[+NAME…]|judged|scoreddocs|RUN,…",
        help="What is reranked: the results of a retriever (default: bm25), of several fused "
        "(bm25+rm3), exactly the judged documents (judged), those that an ir_datasets collection "
        "brings (scoreddocs), or a run file. `platform run` takes several.",
    ),
    list_option(
        "--retriever",
        "retrievers",
        type=RETRIEVER,
        hidden=True,
        help="An older form of --first-stage, until the next release: several are fused.",
    ),
    click.option(
        "--index",
        type=PATH,
        help="An existing Anserini index with stored documents, to search in place of the "
        "collection's documents.",
    ),
    identical_ids_option,
    number_option("--depth", default=1000, text="Documents to retrieve per topic."),
    expansion_options,
    group=FIRST_STAGE,
    example="--first-stage bm25+rm3 --depth 2000",
)

fusion_option = with_options(
    choice_option(
        "--fusion",
        choices=["auto", "plain", *fusion_methods()],
        text="How several retrievers are fused: by reciprocal ranks whose weights training topics "
        "choose (auto), the same with equal weights (plain), or as `fuse --by` does.",
    ),
    group=FIRST_STAGE,
)

rerank_depth_option = with_options(
    number_option("--rerank-depth", default=500, text="Top documents of each retriever to rerank."),
    group=RERANKING,
    example="--rerank-depth 100",
)

candidates_option = with_options(
    click.option(
        "--candidates",
        type=CANDIDATES,
        metavar="retrieved|judged|RUN",
        hidden=True,
        help="An older form of --first-stage, until the next release.",
    ),
    group=RERANKING,
)

learning_options = with_options(
    number_option(
        "--members",
        default=5,
        least=1,
        text="Models per reranker, with different seeds, whose scores are averaged.",
    ),
    seed_option(),
    click.option(
        "--vectors", type=PATH, help="A file of published word vectors (word2vec, GloVe, fastText)."
    ),
    click.option(
        "--vectors-text",
        multiple=True,
        type=PATH,
        help="A further text file to train word vectors on (.txt, .jsonl, .tsv, also .gz); "
        "repeatable.",
    ),
    group=LEARNING,
    example="--members 1 --seed 7",
)

pretraining_options = with_options(
    click.option(
        "--pretrain",
        type=PRETRAINING,
        metavar="mesh|COLLECTION|none",
        help="Pre-train on MeSH headings as queries (mesh), on a collection with the same "
        "documents, or not (none). Default: mesh for rerankers made for it (graphene).",
    ),
    number_option("--pretrain-queries", default=10000, least=10, text="MeSH-term queries to draw."),
    group=LEARNING,
)


def _workers(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> int | str | None:
    if value is None or value == "ray":
        return value
    if not (value.isdecimal() and int(value) > 0):
        raise click.BadParameter(f"'{value}' is neither a number of processes nor 'ray'.")
    return int(value)


def workers_option(of: str) -> Callable[[Declared], Declared]:
    """Declare `--workers`, with its work and default."""
    return click.option("--workers", metavar="N|ray", callback=_workers, help=of)


machine_options = with_options(
    device_option(),
    click.option(
        "--threads",
        type=click.IntRange(1),
        help="Threads for indexing, searching, reading, tokenizing and transformers on the CPU; "
        "default: all cores.",
    ),
    number_option(
        "--model-threads",
        default=1,
        least=1,
        text="CPU threads of torch; another number trains other weights.",
    ),
    workers_option(
        "Processes that score topics, train members and read documents, or 'ray' for those of a "
        "Ray cluster; default: several where they surely pay."
    ),
    group=MACHINE,
    example="--device cuda --threads 8",
)

ranking_options = with_options(
    retrieving_options,
    fusion_option,
    rerank_depth_option,
    candidates_option,
    with_options(interpolate_option("auto chooses it on validation topics"), group=RERANKING),
    with_options(
        train_on_option("Collections to train on; default: the collection's training partner."),
        train_topics_option,
        click.option("--checkpoint", type=PATH, help="A folder written by `platform train`."),
        group=LEARNING,
    ),
    learning_options,
    pretraining_options,
)
"""The options of `run` and `explain` for retrieval, reranking and training."""
