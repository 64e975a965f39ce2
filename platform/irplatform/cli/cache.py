"""`platform cache`: list, remove and verify what the cache holds."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import Group
from irplatform.cli.names import COLLECTION, Names, list_option
from irplatform.cli.options import flag_option
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.errors import InputError, counted, unknown
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.files.cache_contents import Item


def _kinds(_incomplete: str) -> list[str]:
    from irplatform.files.cache_contents import contents

    return sorted({item.kind for item in contents()})


_USUAL: dict[str, Any] = {"depth": 1000, "members": 5, "seed": 42}
"""Defaults of settings of an item besides its system's options."""

kinds_option = list_option(
    "--kind", "kinds", type=Names("kind", _kinds), help="Only items of these kinds."
)

of_collection_option = click.option(
    "--collection", type=COLLECTION, help="Only items of this collection's documents."
)


@click.group(cls=Group)
def cache() -> None:
    """List, remove and verify what the cache holds."""


@cache.command("list", examples=["platform cache list --kind index,checkpoint"])
@kinds_option
@of_collection_option
@json_option
def list_items(kinds: tuple[str, ...], collection: str | None, as_json: bool) -> None:
    """List what the cache holds, by kind; with --kind or --collection, each item.

    An item shows its collection and the options that differ from the defaults. A file that several
    listed items share is counted with the first of them.
    """
    from irplatform.files.writing import home

    items = _items(kinds, collection)
    if as_json:
        print_json({"folder": str(home()), "items": _facts(items)})
        return
    if items:
        print_rows(_one_by_one(items) if kinds or collection else _by_kind(items))
    present = next(folder for folder in (home(), *home().parents) if folder.exists())
    free = _size(shutil.disk_usage(present).free).lstrip()
    say_text(f"{_size(_total(items))}  in {home()}; {free} are free on its disk")


@cache.command(
    "remove",
    examples=[
        "platform cache remove --unused-for 30 --dry-run",
        "platform cache remove --kind index --yes",
    ],
)
@kinds_option
@of_collection_option
@click.option(
    "--unused-for",
    "days",
    type=click.FloatRange(0),
    metavar="DAYS",
    help="Only items not used for this many days.",
)
@flag_option("--interrupted", text="Only what interrupted commands left.")
@flag_option("--all", "everything", text="Everything in the cache.")
@flag_option("--dry-run", text="Show what would be removed, but remove nothing.")
@flag_option("--yes", text="Remove without asking.")
def remove(
    kinds: tuple[str, ...],
    collection: str | None,
    days: float | None,
    interrupted: bool,
    everything: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Remove items from the cache; they are rebuilt when needed.

    Knowledge bases, built collections and collection names stay. Run it when no other command uses
    the cache: items being built are skipped, but items being read are not. A file that several
    items share, such as the word vectors of checkpoints, takes up space until all of them are
    removed.
    """
    from irplatform.files.cache_contents import remove as remove_items

    if not (kinds or collection or days is not None or interrupted or everything):
        raise InputError(
            "say what to remove: --kind, --collection, --unused-for, --interrupted or --all."
        )
    since = datetime.now(UTC) - timedelta(days=days or 0)
    items = [
        item
        for item in _items(kinds, collection)
        if (days is None or item.last_use < since) and not (interrupted and item.complete)
    ]
    if not items:
        say_text("There is nothing to remove.")
        return
    for item in items:
        say_text(f"{_size(item.size)}  {item.kind}/{item.path.name}")
    total = _summary(items)
    if dry_run:
        say_text(f"{total} would be removed.")
        return
    if not (yes or _confirmed(f"Remove {total}?")):
        say_text("Nothing was removed.")
        return
    removed, busy = remove_items(items)
    say_text(f"Removed {_summary(removed)}.")
    for item in busy:
        say_text(f"{item.kind}/{item.path.name} was skipped: another command is building it.")


@cache.command("verify")
@kinds_option
@json_option
@click.pass_context
def verify(context: click.Context, kinds: tuple[str, ...], as_json: bool) -> None:
    """Read every file in the cache, also of unfinished items, and list the damaged ones.

    Other commands check only what they use; this one reads everything again. The exit code is 1 if
    something is damaged.
    """
    from irplatform.files.cache import damage
    from irplatform.files.journals import damage_of_unfinished
    from irplatform.system.console import progress

    items = _items(kinds)
    damaged: dict[str, str] = {}
    with progress("verifying the cache", len(items), "items") as advance:
        for item in items:
            finished = item.complete and item.path.is_dir()
            fault = damage(item.path, anew=True) if finished else damage_of_unfinished(item.path)
            if fault is not None:
                damaged[str(item.path)] = fault
            advance(1)
    if as_json:
        print_json({"items": len(items), "damaged": damaged})
    else:
        for path, fault in damaged.items():
            say_text(f"{path} {fault}")
        if damaged:
            say_text("What is damaged is made again when it is needed.")
        say_text(f"{counted(len(items), 'item')} read, {len(damaged)} damaged.")
    if damaged:
        context.exit(1)


def _confirmed(question: str) -> bool:
    try:
        return click.confirm(question)
    except click.Abort as error:
        if isinstance(error.__context__, EOFError):
            raise InputError(
                "there is no terminal to ask in; add --yes to remove without asking."
            ) from error
        raise


def _items(kinds: Sequence[str], collection: str | None = None) -> list[Item]:
    from irplatform.files.cache_contents import collections_of, contents
    from irplatform.registry.loading import registry

    items = contents(kinds)
    for kind in kinds:
        if all(item.kind != kind for item in items):
            raise unknown("kind", kind, {item.kind for item in contents()})
    if collection is None:
        return items
    names = collections_of(items)
    if collection not in names.values():
        collection = registry().documents_of(collection).corpus.name
    return [item for item in items if names.get(item.path) == collection]


def _by_kind(items: Sequence[Item]) -> list[tuple[str, ...]]:
    items_by_kind: dict[str, list[Item]] = {}
    for item in items:
        items_by_kind.setdefault(item.kind, []).append(item)
    rows = [
        (
            _size(_total(group)),
            f"{len(group):,}",
            _day(max(item.last_use for item in group)),
            kind + _shared(sum(item.shared for item in group)),
        )
        for kind, group in items_by_kind.items()
    ]
    return [("size".rjust(9), "items", "last used", "kind"), *rows]


def _one_by_one(items: Sequence[Item]) -> list[tuple[str, ...]]:
    from irplatform.files.cache_contents import collections_of

    names = collections_of(items)
    rows = []
    for item in items:
        state = ("" if item.complete else " (incomplete)") + _shared(item.shared)
        options = ", ".join(f"{name}={value}" for name, value in _options(item).items())
        description = f"{item.kind}/{item.path.name}{state}{options and '  '}{options}"
        rows.append((_size(item.size), _day(item.last_use), names.get(item.path, ""), description))
    return [("size".rjust(9), "last used", "collection", "name, and options"), *rows]


def _shared(size: int) -> str:
    return f" (and files of {_size(size).lstrip()} that others listed share)" if size else ""


def _facts(items: Sequence[Item]) -> list[dict[str, Any]]:
    from irplatform.files.cache_contents import collections_of

    names = collections_of(items)
    return [
        {
            "kind": item.kind,
            "name": item.path.name,
            "collection": names.get(item.path),
            "options": _options(item),
            "bytes": item.size,
            "shared_bytes": item.shared,
            "used": item.last_use.isoformat(timespec="seconds"),
            "complete": item.complete,
        }
        for item in items
    ]


def _options(item: Item) -> dict[str, Any]:
    """The options of the system that made an item, except defaults."""
    from irplatform.registry.loading import registry
    from irplatform.settings import flat

    made_of, usual = item.depends_on, {**_USUAL}
    for kind, systems in (("reranker", registry().rerankers), ("retriever", registry().retrievers)):
        if (registration := systems.get(made_of.get(kind, ""))) is not None:
            usual |= flat(registration.options({}).model_dump(mode="json"))
            options = flat(made_of.get("options", {}))
            values = {**{name: made_of[name] for name in _USUAL if name in made_of}, **options}
            return {name: value for name, value in values.items() if usual.get(name) != value}
    return {}


def _total(items: Sequence[Item]) -> int:
    return sum(item.size for item in items)


def _summary(items: Sequence[Item]) -> str:
    return f"{counted(len(items), 'item')}, {_size(_total(items)).lstrip()}"


def _day(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d")


def _size(count: int) -> str:
    """A size with its unit, right-aligned: " 1.5 GB"."""
    from rich.filesize import decimal

    return decimal(count).rjust(9)
