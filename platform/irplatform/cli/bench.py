"""`platform bench`: measure how fast rerankers are on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import Group, with_options
from irplatform.cli.names import DEVICE, RERANKER, list_option
from irplatform.cli.options import (
    MACHINE,
    OUTPUT,
    collection_option,
    number_option,
    preset_option,
    setting_option,
)
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.cli.settings import read_settings
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.experiment.timing import Timing


@click.group(cls=Group)
def bench() -> None:
    """Measure how fast rerankers are."""


@bench.command(
    "rerankers", examples=["platform bench rerankers --collection demo --reranker delta,drmm"]
)
@with_options(
    collection_option,
    list_option("--reranker", "rerankers", type=RERANKER, help="Rerankers to time; default: all."),
    setting_option("a reranker", "rerankers show"),
    preset_option,
    group="What to time",
)
@with_options(
    number_option("--documents", default=500, least=1, text="Documents per topic."),
    number_option("--topics", default=10, least=1, text="Topics to score."),
    number_option("--rounds", default=3, least=1, text="Measurements per reranker."),
    group="How much",
)
@with_options(
    list_option(
        "--device",
        "devices",
        type=DEVICE,
        help="cpu, cuda or mps; default: the CPU, and the GPU if there is one.",
    ),
    number_option("--model-threads", default=1, least=1, text="CPU threads that torch uses."),
    group=MACHINE,
)
@with_options(json_option, group=OUTPUT)
@click.pass_context
def time_rerankers(
    context: click.Context,
    /,
    rerankers: tuple[str, ...],
    settings: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Time rerankers: milliseconds to score 500 documents for a topic.

    Times one loaded model from document ids to scores, including reading and transfers. Weights
    come from a checkpoint in the cache if there is one. Otherwise the model is untrained, which
    costs the same, or briefly trained if it cannot score untrained. Candidates are BM25's, topped
    up with those of other topics. The exit code is 1 if a reranker that you named could not be
    timed.
    """
    from irplatform.experiment.timing import time_rerankers as measure
    from irplatform.registry.loading import registry

    read = read_settings(settings, None, rerankers=rerankers or sorted(registry().rerankers))
    timings = measure(rerankers=rerankers, settings=read, **options)
    if as_json:
        facts = {
            name: options[name] for name in ("collection", "documents", "topics", "model_threads")
        }
        print_json({**facts, "timings": [timing.as_json() for timing in timings]})
    else:
        _print(timings, options["documents"])
    if any(timing.problem for timing in timings if timing.name in rerankers):
        context.exit(1)


def _print(timings: Sequence[Timing], documents: int) -> None:
    say_text(f"Milliseconds for one model to score {documents:,} documents of a topic")
    say_text("")
    rows = [("reranker", "device", "  median", "quickest", "weights")]
    problems = []
    for timing in timings:
        figures = timing.as_json()
        if timing.problem:
            problems.append(f"{timing.name} on {timing.device}: {timing.problem}")
            continue
        middle, best = (f"{figures[key]:8.1f}" for key in ("median_ms", "quickest_ms"))
        rows.append((timing.name, timing.device, middle, best, timing.weights))
    print_rows(rows)
    for problem in problems:
        say_text(f"not timed: {problem}")
