"""Options of commands: those that declared settings become, and others that several commands share.

A command's help lists options in the order of their decorators, under the headings of their groups.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from irplatform.analysis.settings import COMPARISON, JUDGMENTS, SHOWN, TOPICS
from irplatform.cli.commands import with_options
from irplatform.cli.names import COLLECTION, KINDS, KNOWLEDGE, TASK, ListOption, list_option
from irplatform.errors import InputError
from irplatform.experiment.settings import DeclaredSettings
from irplatform.settings import (
    FIRST_STAGE,
    LEARNING,
    MACHINE,
    RERANKING,
    Setting,
    declared,
    taken_by,
)
from irplatform.spelling import option_name

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.cli.commands import Declared

EXAMPLES = {
    FIRST_STAGE: "--first-stage bm25+rm3 --depth 2000",
    RERANKING: "--rerank-depth 100",
    LEARNING: "--members 1 --seed 7",
    MACHINE: "--device cuda --threads 8",
    JUDGMENTS: "--qrels qrels.txt --measure nDCG@20,AP",
    COMPARISON: "--baseline bm25 --test randomization",
    TOPICS: "--among runs/demo/bm25.run@1000",
    SHOWN: "--group-by disease --bounds",
}
"""Examples of the groups of options, for help."""


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


if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # generic since click 8.4


class _Number(click.IntRange):
    """The type of an option that takes a number within bounds, whole unless it is a "float"."""

    def __init__(self, kind: str, least: int | None = None, most: int | None = None) -> None:
        super().__init__(least, most)
        self._read = click.FLOAT if kind == "float" else click.INT

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; InputError if it is out of bounds."""
        number = self._read.convert(value, param, ctx)
        name = param.opts[0] if param else "the number"
        if self.min is not None and number < self.min:
            raise InputError(f"{name} is {number:g}; it must be at least {self.min:g}.")
        if self.max is not None and number > self.max:
            raise InputError(f"{name} is {number:g}; it must be at most {self.max:g}.")
        return number


class _NumberOrWord(_ParamType):
    """The type of an option that takes a number, or one of some words."""

    name = "number"

    def __init__(self, kind: type[int | float], words: Sequence[str]) -> None:
        self._kind, self._words = kind, words

    def convert(self, value: Any, param: click.Parameter | None, _: click.Context | None) -> Any:
        """Return the number or the word; InputError for another text."""
        if value in self._words or not isinstance(value, str):
            return value
        try:
            return self._kind(value)
        except ValueError as error:
            kind = "a whole number" if self._kind is int else "a number"
            words = " or ".join([kind, *self._words])
            name = param.opts[0] if param else "it"
            raise InputError(f"{name} takes {words}, not '{value}'.") from error


def declared_option(setting: Setting) -> Callable[[Declared], Declared]:
    """Return the decorator that adds the option of a setting, in its group."""
    names = [option_name(setting.name), setting.name]
    about: dict[str, Any] = {"help": setting.help}
    if setting.kind == "bool":
        about |= {"default": setting.default, "is_flag": True}
        names[0] += f"/{option_name(setting.name, False)}" if setting.default is not False else ""
    else:
        about |= {"type": _type(setting), "metavar": setting.metavar}
    if setting.several or setting.kind == "Mapping":
        about["multiple"] = True
    elif setting.kind != "bool":
        default = setting.default_text or setting.default
        about |= {"default": default, "show_default": default not in (None, "")}
    if setting.several and (setting.kind == "str" or setting.metavar):
        about |= {"cls": ListOption, "callback": _unique if setting.names == "kb" else None}
    return with_options(click.option(*names, **about), group=setting.group)


def _unique(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> Any:
    return tuple(dict.fromkeys(values))


def _type(setting: Setting) -> Any:
    if setting.words:
        return _NumberOrWord(int if setting.kind == "int" else float, setting.words)
    if setting.least is not None or setting.most is not None:
        return _Number(setting.kind, setting.least, setting.most)
    if setting.choices:
        return click.Choice(setting.choices)
    if setting.kind == "Path":
        return PATH
    if setting.names:
        return KINDS[setting.names]
    return {"int": int, "float": float}.get(setting.kind, str)


def options_of(
    command: str,
    *,
    settings: type[Any] = DeclaredSettings,
    examples: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    headings: Mapping[str, str] | None = None,
    helps: Mapping[str, str] | None = None,
) -> Callable[[Declared], Declared]:
    """Return a decorator that adds the options that a command takes.

    Args:
        command: the taker of the settings.
        settings: the dataclass that declares them.
        examples: further examples, by group.
        without: settings that the command has no option for.
        headings: other headings, by group.
        helps: other help, by setting.
    """
    options = []
    texts = {group: text for group, text in EXAMPLES.items() if group not in (headings or {})}
    texts |= examples or {}
    for setting in taken_by(settings, command):
        if setting.name not in without:
            variant = replace(
                setting,
                help=(helps or {}).get(setting.name, setting.help),
                group=(headings or {}).get(setting.group, setting.group),
            )
            example = texts.pop(variant.group, "")
            options.append(with_options(declared_option(variant), example=example))
    return with_options(*options)


def option_of(
    name: str, settings: type[Any] = DeclaredSettings, **changes: Any
) -> Callable[[Declared], Declared]:
    """Return a decorator that adds the option of one setting, perhaps with other help."""
    return declared_option(replace(declared(settings)[name], **{"group": "", **changes}))


def device_option(default: str = "auto", more: str = "") -> Callable[[Declared], Declared]:
    """Declare `--device`."""
    return option_of(
        "device", default=default, help=declared(DeclaredSettings)["device"].help + more
    )


def seed_option(of: str = "Random seed.") -> Callable[[Declared], Declared]:
    """Declare `--seed`."""
    return option_of("seed", help=of)


def setting_option(of: str, lister: str) -> Callable[[Declared], Declared]:
    """Declare `--set` for "a reranker", whose options "rerankers show" lists."""
    text = f"Set an option of {of} (see `{lister}`); repeat for several."
    return option_of("settings", help=text)


def measures_option(
    text: str = "Measures, such as nDCG@20,AP; default: the collection's.",
) -> Callable[[Declared], Declared]:
    """Declare `--measure` for several measures."""
    return option_of("measures", help=text)


def workers_option(of: str) -> Callable[[Declared], Declared]:
    """Declare `--workers`, with its work and default."""
    return option_of("workers", help=of)


def knowledge_option(*declarations: str, **attributes: Any) -> Callable[[Declared], Declared]:
    """Declare an option that lists knowledge bases, each once."""
    return list_option(
        *declarations,
        type=KNOWLEDGE,
        callback=_unique,
        **attributes,
    )


collection_option = click.option(
    "--collection", required=True, type=COLLECTION, help="A name, a path or an ir_datasets id."
)


def number_option(
    *declarations: str, default: float, text: str, least: int | None = None
) -> Callable[[Declared], Declared]:
    """Declare an option for a number of the type of its default; `least` is a whole number."""
    kind = None if least is None else _Number("int", least)
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


_TASK = click.option(
    "--task", type=TASK, help="The task whose rules hold; see `platform tasks list`."
)
_TOPICS = click.option("--topics", type=PATH, help="The task's file of topics, all to be answered.")
_DOCUMENTS = flag_option(
    "--documents", text="Also look up every document in the collection's index."
)
task_options = with_options(
    _TASK,
    _TOPICS,
    click.option(
        "--collection", type=COLLECTION, help="A collection, whose topics the run must answer."
    ),
    _DOCUMENTS,
)
"""Options of a command for one run."""
tasks_options = with_options(
    _TASK,
    _TOPICS,
    list_option(
        "--collection",
        type=COLLECTION,
        help="A collection, whose topics the runs must answer; one for each snapshot of a task "
        "that has some.",
    ),
    _DOCUMENTS,
)
"""Options of a command for several runs."""


def force_option(target: str) -> Callable[[Declared], Declared]:
    """Declare `--force`, which replaces something."""
    return flag_option("--force", text=f"Replace {target}.")
