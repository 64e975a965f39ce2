"""Options that take names or lists of names, with completion in a shell.

Lists have commas, or repeat the option, or both. Commas in brackets and in existing paths stay.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from click.shell_completion import CompletionItem

    from irplatform.cli.commands import Declared

_USUAL = (
    *("nDCG@10", "nDCG@20", "nDCG-exp@20", "AP", "AP-graded", "P@10", "R@1000", "RR", "Rprec"),
    *("Judged@20", "infNDCG"),
)


def split_list(text: str) -> list[str]:
    """Split a text at commas, except in brackets or quotes.

    >>> split_list("AP, nDCG(dcg='exp-log2',gains={0:0,1:1})@20")
    ['AP', "nDCG(dcg='exp-log2',gains={0:0,1:1})@20"]
    >>> split_list('"a,b",c')
    ['a,b', 'c']
    """
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and (depth or not parts[-1].strip()):
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= depth > 0
        elif character == "," and not depth:
            parts.append("")
            continue
        parts[-1] += character
    return [_unquoted(part) for part in map(str.strip, parts) if part]


def _unquoted(part: str) -> str:
    return part[1:-1] if len(part) > 2 and part[0] == part[-1] and part[0] in "'\"" else part


_NAMED = re.compile(r"[\w.-]+=")
_LOW = re.compile(r"=[-+.\d]+(e[-+]?\d+)?:", re.IGNORECASE)


def split_ranges(text: str) -> list[str]:
    """Split `--over` into options with their ranges, in which commas separate values."""
    options: list[str] = []
    for part in split_list(text):
        last = options[-1] if options else ""
        if "=" not in last or _NAMED.match(part) or _LOW.search(last):
            options.append(part)
        else:
            options[-1] = f"{last},{part}"
    return options


def split_stages(text: str) -> list[str]:
    """Split first stages at commas, except in the path of a run file that contains commas."""
    from pathlib import Path

    return [text] if "," not in text or Path(text).exists() else split_list(text)


def split_collections(text: str) -> list[str]:
    """Split names, paths and ids at commas, except in a path that contains commas."""
    from irplatform.collections.names import expand, looks_like_path, split_off

    def is_there(name: str) -> bool:
        return split_off(expand(name))[0].exists()

    parts = split_list(text)
    paths = [part for part in parts if looks_like_path(part)]
    if "," not in text or is_there(text):
        return [text]
    return parts if len(paths) == len(parts) or all(map(is_there, paths)) else [text]


if TYPE_CHECKING:
    _ParamType = click.ParamType[str]
else:
    _ParamType = click.ParamType  # generic since click 8.4


class Names(_ParamType):
    """The type of an option that takes a name, or a path with `paths`; it refuses nothing.

    `candidates` returns names for a typed text, for completion; `split` splits a text into names.
    """

    def __init__(
        self,
        name: str,
        candidates: Callable[[str], Iterable[str]],
        *,
        split: Callable[[str], list[str]] = split_list,
        paths: bool = False,
    ) -> None:
        self.name = name
        self.candidates = candidates
        self.split = split
        self.paths = paths

    def convert(self, value: Any, param: click.Parameter | None, _ctx: click.Context | None) -> str:
        """Return the name; InputError for several if the option takes one."""
        several = not isinstance(param, ListOption) and "," in value and len(self.split(value)) > 1
        if several and param is not None:
            option = param.opts[0] if isinstance(param, click.Option) else param.name.upper()
            raise InputError(f"{option} takes one {self.name}, not several: '{value}'.")
        return str(value)

    def shell_complete(
        self, _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return names that begin with a text, or files."""
        from click.shell_completion import CompletionItem

        names = dict.fromkeys(n for n in self.candidates(incomplete) if n.startswith(incomplete))
        if not names and self.paths:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(name) for name in names]


class ListOption(click.Option):
    """An option that takes several values: repeated, with commas, or both."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **{**attributes, "multiple": True})
        if self.metavar is None:
            words = getattr(self.type, "choices", None)
            name = f"[{'|'.join(words)}]" if words else self.type.name.upper()
            self.metavar = f"{name},…"

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Return all values; InputError for an empty list."""
        if isinstance(value, (tuple, list)) and value:
            split = self.type.split if isinstance(self.type, Names) else split_list
            value = [part for text in value for part in split(str(text))]
            if not value:
                raise InputError(f"{self.opts[0]} is empty; give it a value.")
        return super().type_cast_value(ctx, value)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the last value."""
        before, comma, last = incomplete.rpartition(",")
        items = super().shell_complete(ctx, last)
        for item in items:
            item.value = f"{before}{comma}{item.value}"
        return items


def list_option(*declarations: str, **attributes: Any) -> Callable[[Declared], Declared]:
    """Declare a `ListOption`, as `click.option` does."""
    return click.option(*declarations, cls=ListOption, **attributes)


def _collections(incomplete: str) -> Iterator[str]:
    """Names, collections in files, their splits, and ir_datasets' ids."""
    from irplatform.collections.beir import BeirFolder
    from irplatform.collections.irds import dataset_ids as known_irds
    from irplatform.collections.names import SHORT_NAMES, aliases, collections_beside, expand
    from irplatform.registry.loading import registry

    yield from (*registry().collections, *aliases(), *SHORT_NAMES)
    folder, colon, _ = incomplete.rpartition(":")
    if colon:
        with suppress(InputError):  # it is not a folder
            yield from (f"{folder}:{split}" for split in BeirFolder.at(expand(folder)).splits)
    yield from collections_beside(incomplete)
    if incomplete[:1].isalpha():
        yield from known_irds()


def _registered(table: str, *more: str) -> Callable[[str], Iterable[str]]:
    def names(_incomplete: str) -> Iterable[str]:
        from irplatform.registry.loading import registry

        return [*more, *getattr(registry(), table)]

    return names


def _knowledge(_incomplete: str) -> Iterable[str]:
    from irplatform.knowledge import all_installed

    return all_installed()


def _presets(_incomplete: str) -> Iterable[str]:
    from irplatform.registry.loading import registry

    usable = (system for system in registry().rerankers.values() if not system.broken)
    return [name for reranker in usable for name in reranker.presets]


def _stages(incomplete: str) -> Iterator[str]:
    """First stages, after a typed "+"."""
    before, plus, _ = incomplete.rpartition("+")
    more = () if plus else ("judged", "scoreddocs")
    yield from (f"{before}{plus}{name}" for name in _registered("retrievers", *more)(""))


def _rerankers(incomplete: str) -> Iterator[str]:
    """Names, after a typed label."""
    label, equals, _ = incomplete.rpartition("=")
    yield from (f"{label}{equals}{name}" for name in _registered("rerankers")(""))


def _tasks(_incomplete: str) -> Iterable[str]:
    from irplatform.tasks.submissions import all_tasks

    return all_tasks()


RERANKER = Names("reranker", _rerankers)
RETRIEVER = Names("retriever", _registered("retrievers"))
FEATURES = Names("group", _registered("features"))
JUDGE = Names("judge", _registered("judges"))
COLLECTION = Names("collection", _collections, split=split_collections, paths=True)
PRETRAINING = Names(
    "collection",
    lambda typed: ("mesh", "none", *_collections(typed)),
    split=split_collections,
    paths=True,
)
STAGE = Names("name", _stages, split=split_stages, paths=True)
MEASURE = Names("measure", _registered("measures", *_USUAL))
KNOWLEDGE = Names("kb", _knowledge)
PRESET = Names("preset", _presets)
TASK = Names("task", _tasks, split=lambda path: [path], paths=True)
TOPICS = Names("topic", lambda _: ("first:10",))
DEVICE = Names("device", lambda _: ("auto", "cpu", "cuda", "mps"))
KINDS = {
    "collection": COLLECTION,
    "device": DEVICE,
    "kb": KNOWLEDGE,
    "measure": MEASURE,
    "preset": PRESET,
    "range": Names("name[=range]", lambda _: (), split=split_ranges),
    "pretraining": PRETRAINING,
    "reranker": RERANKER,
    "run": Names("name", lambda _: ()),
    "retriever": RETRIEVER,
    "stage": STAGE,
    "topic": TOPICS,
}
"""What the text of a setting names → the type of its option."""

pool_collection_option = click.option(
    "--collection",
    type=COLLECTION,
    help="The collection of topics and documents; default: that of the pool's runs.",
)
