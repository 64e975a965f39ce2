"""Options that several commands share; each is declared once.

In a command's help, options stand in the order of their decorators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from irplatform.cli.expansion import expansion_options
from irplatform.cli.paths import PATH
from irplatform.cli.with_options import with_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from irplatform.cli.with_options import Command

collection_option = click.option(
    "--collection", required=True, help="A name, path or ir_datasets id."
)
learned_collections_option = click.option(
    "--collection",
    multiple=True,
    required=True,
    help="A name, path or ir_datasets id; repeat it for several over the same documents.",
)
preset_option = click.option(
    "--preset",
    metavar="NAME",
    help="Settings that rerankers bring, such as paper; those that you give take precedence.",
)


def seed_option(of: str = "Random seed.") -> Callable[[Command], Command]:
    """`--seed`; the help says what it is of."""
    return click.option(
        "--seed", default=42, show_default=True, type=click.IntRange(0, 2**32 - 1), help=of
    )


def force_option(what: str) -> Callable[[Command], Command]:
    """`--force`; the help says what it replaces."""
    return click.option("--force", is_flag=True, help=f"Replace {what}.")


def setting_option(of: str, listed: str, name: str = "settings") -> Callable[[Command], Command]:
    """`--set`, for some systems.

    Args:
        of: what has the options: "a reranker".
        listed: the command that lists them: "rerankers show".
        name: the command's parameter.
    """
    return click.option(
        "--set",
        name,
        multiple=True,
        metavar="NAME=VALUE",
        help=f"An option of {of}, as `{listed}` lists them.",
    )


def interpolate_option(explained: str) -> Callable[[Command], Command]:
    """`--interpolate`; `irplatform.cli.settings.interpolation_weight` reads it.

    Args:
        explained: what the share is of, and how it is chosen.
    """
    return click.option(
        "--interpolate",
        default="auto",
        show_default=True,
        metavar="W",
        help=f"The first stage's share {explained}.",
    )


def train_on_option(explained: str) -> Callable[[Command], Command]:
    """`--train-on`; `explained` says for what its topics are, and what they are by default."""
    return click.option(
        "--train-on",
        multiple=True,
        metavar="COLLECTION",
        help=f"{explained} Repeat it for several over the same documents.",
    )


_of_systems = with_options(
    click.option(
        "--retriever",
        "retrievers",
        multiple=True,
        default=("bm25",),
        show_default=True,
        help="First stage; repeat it to fuse several.",
    ),
    click.option("--depth", default=1000, show_default=True, help="Documents found per topic."),
    click.option(
        "--rerank-depth",
        default=500,
        show_default=True,
        help="First documents of each retriever that are reranked.",
    ),
    setting_option("a retriever or reranker", "rerankers show"),
    click.option(
        "--config",
        type=PATH,
        help="A TOML file of such options; --set takes precedence.",
    ),
    click.option(
        "--vectors",
        type=PATH,
        help="Published word vectors to use (word2vec, GloVe, fastText).",
    ),
    click.option(
        "--vectors-text",
        multiple=True,
        type=PATH,
        help="Further text to train word vectors on (.txt, .jsonl, .tsv, also .gz).",
    ),
    click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or mps."),
    seed_option(),
    click.option(
        "--members",
        default=5,
        show_default=True,
        type=click.IntRange(1),
        help="How many models of a reranker that learns are trained and averaged.",
    ),
    click.option(
        "--threads",
        type=click.IntRange(1),
        help="For indexing, searching, reading and tokenizing documents, and for transformers that "
        "score them on the CPU; default: all cores.",
    ),
    click.option(
        "--model-threads",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="CPU threads of torch; another number trains other weights.",
    ),
)
_of_training = with_options(
    preset_option,
    click.option(
        "--candidates",
        default="retrieved",
        show_default=True,
        metavar="retrieved|judged|RUN",
        help="What is reranked: what the retrievers find, exactly the judged documents of "
        "each topic, or the documents of a run file.",
    ),
    click.option(
        "--fusion",
        type=click.Choice(["auto", "plain"]),
        default="auto",
        show_default=True,
        help="Weights of several retrievers: auto learns them on the training topics.",
    ),
    click.option(
        "--pretrain",
        metavar="mesh|COLLECTION|none",
        help="What rerankers learn from first: articles' MeSH headings as queries, a "
        "collection over the same documents, or nothing. By default only those are "
        "pre-trained that are made for it (graphene).",
    ),
    click.option(
        "--pretrain-queries",
        default=10_000,
        show_default=True,
        type=click.IntRange(10),
        help="How many MeSH-term queries to draw.",
    ),
)
system_options = with_options(collection_option, _of_systems, expansion_options)
"""The options of `run`, `explain` and `tune`."""
training_options = with_options(system_options, _of_training)
"""The options of `run` and `explain`, those of systems included."""
options_of_train = with_options(
    learned_collections_option, _of_systems, expansion_options, _of_training
)
"""The options of `train`: those of `run`, for collections to learn from."""
ranking_options = with_options(
    train_on_option("What to learn from; default: the collection's partner."),
    click.option(
        "--checkpoint",
        type=PATH,
        help="A trained reranker, instead of training.",
    ),
    interpolate_option("in the final scores, 0 to 1; auto chooses on validation topics"),
)
"""The options of `run` and `explain`: which model ranks, and what share the first stage has."""
