"""`platform rerankers`, `retrievers`, `features`, `judges`, `bench`: options, citations, speed."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import Group, with_options
from irplatform.cli.names import DEVICE, FEATURES, JUDGE, RERANKER, RETRIEVER, list_option
from irplatform.cli.options import collection_option, number_option, option_of, setting_option
from irplatform.cli.output import cut, json_option, print_json, print_rows
from irplatform.cli.settings import read_settings
from irplatform.registry.loading import registry
from irplatform.registry.summaries import known_summaries, summary_of
from irplatform.settings import MACHINE, OUTPUT, flat
from irplatform.system.console import say_text, terminal_width
from irplatform.system.packages import absent, how_to_install

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.analysis.timing import Timing
    from irplatform.cli.names import Names
    from irplatform.options import Options
    from irplatform.plugin.declarations import Kind
    from irplatform.registry.registration import Registration
    from irplatform.registry.summaries import Summary


def _commands(table: str, kind: Kind, names: Names, example: str) -> Group:
    """The commands `list` and `show` for a kind of system."""
    group = Group(table, help=f"List {kind}s and show their options.")

    @group.command("list", help=f"List all {kind}s.")
    @json_option
    def list_systems(as_json: bool) -> None:
        registrations = getattr(registry(), table)
        if as_json:
            print_json(
                {table: [_describe(registration) for registration in registrations.values()]}
            )
        else:
            summaries = known_summaries(table, registrations)
            rows = [(n, _line(r, summaries.get(n))) for n, r in sorted(registrations.items())]
            print_rows(rows)

    @group.command(
        "show",
        help=f"Show a {kind}'s options, with types, defaults and meanings.",
        examples=[f"platform {table} show {example}"],
    )
    @click.argument("name", type=names)
    @json_option
    def show_system(name: str, as_json: bool) -> None:
        from irplatform.registry.dependencies import registered_system

        _show(registered_system(kind, name), as_json)

    return group


rerankers = _commands("rerankers", "reranker", RERANKER, "delta")
retrievers = _commands("retrievers", "retriever", RETRIEVER, "bm25")
features = _commands("features", "feature group", FEATURES, "lexical")
judges = _commands("judges", "judge", JUDGE, "llm")


def _line(registration: Registration[Any], entry: Summary | None) -> str:
    if entry is None and registration.broken:
        return f"[cannot be used: {registration.broken}]"
    summary = entry or summary_of(registration)
    return summary.text + _changes(registration) + _lack(absent(*summary.packages))


def _show(registration: Registration[Any], as_json: bool) -> None:
    _ = registration.system  # raises the error of a broken system
    if as_json:
        print_json(_describe(registration))
        return
    text = _documentation(registration)
    if terminal_width(sys.stdout):  # which wraps paragraphs; lists stay
        text = re.sub(r"(?<=\S)\n(?=\w)", " ", text)
    say_text(f"{registration.name}: {text}".rstrip() + "\n")
    if citation := registration.system.citation:
        from irplatform.analysis.cite import split_citation

        say_text(f"Cite: {split_citation(citation)[0]}\n")
    if lack := _lack(registration.missing()):
        say_text(f"{lack.strip()}\n")
    options = _options(registration.options({}))
    place = f"ltr.settings.{registration.name}." if registration.kind == "feature group" else ""
    heading = f"Options (--set {place}NAME=VALUE):" if options else "No options."
    say_text(f"From {registration.plugin}. {heading}")
    print_rows(
        [
            (f"  {o['name']}", o["type"], f"[{cut(_as_set(o['default']), 40)}]", o["description"])
            for o in options
        ]
    )
    for name, settings in registration.presets.items():
        text = ", ".join(f"{option}={_as_set(value)}" for option, value in flat(settings).items())
        say_text(f"\nPreset (--preset {name}): {text}")


def _documentation(registration: Registration[Any]) -> str:
    return inspect.cleandoc(registration.system.__doc__ or "")


def _changes(registration: Registration[Any]) -> str:
    changes = (f"{name}={_as_set(value)}" for name, value in flat(registration.defaults).items())
    return f" [{cut(', '.join(changes), 100)}]" if registration.defaults else ""


def _lack(missing: Sequence[str]) -> str:
    return f" [not installed: {how_to_install(missing)}]" if missing else ""


def _describe(registration: Registration[Any]) -> dict[str, Any]:
    from pydantic_core import to_jsonable_python

    from irplatform.plugin.features import TrainableFeatureGroup
    from irplatform.plugin.rerankers import TrainableReranker

    if registration.broken:
        return {
            "name": registration.name,
            "plugin": registration.plugin.name,
            "error": registration.broken,
        }
    return {
        "name": registration.name,
        "summary": summary_of(registration).text,
        "citation": registration.system.citation or None,
        "trainable": issubclass(registration.system, TrainableReranker | TrainableFeatureGroup),
        "plugin": registration.plugin.name,
        "distribution": registration.plugin.distribution,
        "version": registration.plugin.version,
        "missing": registration.missing(),
        "options": _options(registration.options({})),
        "presets": {
            name: to_jsonable_python(flat(settings))
            for name, settings in registration.presets.items()
        },
    }


def _options(values: Options, prefix: str = "") -> list[dict[str, Any]]:
    """An entry per option; an option with parts is replaced by them ("loop.epochs")."""
    from pydantic_core import to_jsonable_python

    from irplatform.options import Options, type_in_words

    entries: list[dict[str, Any]] = []
    for name, field in type(values).model_fields.items():
        value = getattr(values, name)
        if isinstance(value, Options):
            entries += _options(value, f"{prefix}{name}.")
            continue
        entries.append(
            {
                "name": prefix + name,
                "type": type_in_words(field.annotation, field.metadata),
                "default": to_jsonable_python(value),
                "description": field.description or "",
            }
        )
    return entries


def _as_set(value: object) -> str:
    """A value as `--set` takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name} = {_as_set(part)}' for name, part in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(json.dumps(item) for item in value)}]"
    return "none" if value is None else str(value)


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
    option_of("preset"),
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
    from irplatform.analysis.timing import time_rerankers as measure
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
