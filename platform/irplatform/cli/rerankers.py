"""`platform rerankers`, `retrievers` and `features`: names, options and citations."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
from pydantic_core import to_jsonable_python

from irplatform.cli.commands import Group
from irplatform.cli.names import FEATURES, RERANKER, RETRIEVER
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.options import Options, flat, type_in_words
from irplatform.plugin.features import TrainableFeatureGroup
from irplatform.plugin.rerankers import TrainableReranker
from irplatform.registry.loading import registry
from irplatform.system.console import say_text, terminal_width
from irplatform.system.packages import how_to_install

if TYPE_CHECKING:
    from irplatform.registry.registration import Registration

_LONGEST = 40
"""Characters of a default that a table has room for."""
_LONGEST_CHANGES = 100
"""Characters that a list has room for, to say how a variant differs."""
_WIDEST = 30
"""Characters of a column in a table of options."""


@click.group(cls=Group)
def rerankers() -> None:
    """List rerankers and show their options."""


@click.group(cls=Group)
def retrievers() -> None:
    """List retrievers and show their options."""


@click.group(cls=Group)
def features() -> None:
    """List feature groups and show their options."""


@features.command("list")
@json_option
def list_features(as_json: bool) -> None:
    """List the feature groups that learning to rank can use."""
    _list("features", registry().features, as_json)


@features.command("show", examples=["platform features show lexical"])
@click.argument("name", type=FEATURES)
@json_option
def show_features(name: str, as_json: bool) -> None:
    """Show a feature group's options; set them with `--set ltr.settings.GROUP.OPTION=VALUE`."""
    _show(registry().feature_group(name), as_json)


@rerankers.command("list")
@json_option
def list_rerankers(as_json: bool) -> None:
    """List all rerankers."""
    _list("rerankers", registry().rerankers, as_json)


@rerankers.command("show", examples=["platform rerankers show delta"])
@click.argument("name", type=RERANKER)
@json_option
def show_reranker(name: str, as_json: bool) -> None:
    """Show a reranker's options, with types, defaults and meanings."""
    _show(registry().reranker(name), as_json)


@retrievers.command("list")
@json_option
def list_retrievers(as_json: bool) -> None:
    """List all retrievers."""
    _list("retrievers", registry().retrievers, as_json)


@retrievers.command("show", examples=["platform retrievers show bm25"])
@click.argument("name", type=RETRIEVER)
@json_option
def show_retriever(name: str, as_json: bool) -> None:
    """Show a retriever's options, with types, defaults and meanings."""
    _show(registry().retriever(name), as_json)


def _list(kind: str, registrations: Mapping[str, Registration[Any]], as_json: bool) -> None:
    if as_json:
        print_json({kind: [_describe(registration) for registration in registrations.values()]})
    else:
        print_rows([(name, _line(registrations[name])) for name in sorted(registrations)])


def _line(registration: Registration[Any]) -> str:
    if registration.broken:
        return f"[cannot be used: {registration.broken}]"
    return _summary(registration) + _changes(registration) + _lack(registration)


def _show(registration: Registration[Any], as_json: bool) -> None:
    _ = registration.system  # an error tells why it cannot be used
    if as_json:
        print_json(_describe(registration))
        return
    say_text(f"{registration.name}: {_flowing(_documentation(registration))}".rstrip() + "\n")
    if citation := registration.system.citation:
        from irplatform.experiment.cite import split_citation

        say_text(f"Cite: {split_citation(citation)[0]}\n")
    if lack := _lack(registration):
        say_text(f"{lack.strip()}\n")
    options = _options(registration.options({}))
    say_text(f"From {registration.plugin}. {_heading(registration) if options else 'No options.'}")
    print_rows(
        [
            (
                f"  {o['name']}",
                str(o["type"]),
                f"[{_brief(_as_set(o['default']))}]",
                str(o["description"]),
            )
            for o in options
        ],
        widest=_WIDEST,
    )
    for name, settings in registration.presets.items():
        text = ", ".join(f"{option}={_as_set(value)}" for option, value in flat(settings).items())
        say_text(f"\nPreset (--preset {name}): {text}")


def _heading(registration: Registration[Any]) -> str:
    """A line on how to set the options below; those of a feature group are set through `ltr`."""
    group = registration.kind == "feature group"
    place = f"ltr.settings.{registration.name}." if group else ""
    return f"Options (--set {place}NAME=VALUE):"


def _documentation(registration: Registration[Any]) -> str:
    """The docstring of its own class, without those of base classes."""
    return inspect.cleandoc(registration.system.__doc__ or "")


def _flowing(text: str) -> str:
    """Join the lines of each paragraph, which a terminal wraps; lists stay."""
    return re.sub(r"(?<=\S)\n(?=\w)", " ", text) if terminal_width(sys.stdout) else text


def _summary(registration: Registration[Any]) -> str:
    return _documentation(registration).split("\n")[0]


def _changes(registration: Registration[Any]) -> str:
    """The options by which a variant differs from others of its class; the first of many."""
    changes = [
        f"{name}={_brief(_as_set(value))}" for name, value in flat(registration.defaults).items()
    ]
    shown = changes[:1]
    for change in changes[1:]:
        if len(", ".join([*shown, change])) > _LONGEST_CHANGES:
            shown.append("…")
            break
        shown.append(change)
    return f" [{', '.join(shown)}]" if shown else ""


def _lack(registration: Registration[Any]) -> str:
    """What to install first, or ""."""
    missing = registration.missing()
    return f" [not installed: {how_to_install(missing)}]" if missing else ""


def _describe(registration: Registration[Any]) -> dict[str, Any]:
    if registration.broken:
        return {
            "name": registration.name,
            "plugin": registration.plugin.name,
            "error": registration.broken,
        }
    return {
        "name": registration.name,
        "summary": _summary(registration),
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


def _brief(text: str) -> str:
    """The beginning of a long default; --json has all of it."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _as_set(value: object) -> str:
    """A value as `--set` takes it; "none" if it is not set."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name} = {_as_set(part)}' for name, part in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(json.dumps(item) for item in value)}]"
    return "none" if value is None else str(value)
