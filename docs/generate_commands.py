"""Writes `commands.md`, the reference of the command line, and the table of `fusing.md`.

    python docs/generate_commands.py

Both come from the code itself. Tests compare the files with `reference()` and `fusing()`, so that
they cannot fall behind. Commands of plugins are left out: their own documentation describes them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from irplatform.cli.commands import option_groups
from irplatform.cli.main import COMMANDS, cli
from irplatform.cli.names import ListOption
from irplatform.runs.fusion import fusion_methods

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = Path(__file__).with_name("commands.md")
FUSING = TARGET.with_name("fusing.md")
_METHODS = re.compile(r"(?<=<!-- methods -->\n).*?(?=<!-- /methods -->)", re.DOTALL)

COMMON = ("quiet", "verbose", "plugin")
"""Options that the beginning explains for all commands."""
HEAD = """\
# Commands

<!-- Made by docs/generate_commands.py; change the commands, not this file. -->

`platform` and `python -m irplatform` are the same program. Results go to stdout; progress, notices
and errors go to stderr, so that `--json` leaves exactly one JSON object on stdout.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | failed although usage and input were right (such as a full disk or an error in a plugin); \
a `check`, `reproduce` or `bench` found something wrong; `kb show`, `concepts show` found nothing |
| 2 | wrong usage or bad input; the message says what, where, and what to do |
| 130 | interrupted by Ctrl-C; run the same command again to continue |
| 143 | the same after SIGTERM |

Progress is one line on a terminal, and a line in 15 seconds elsewhere. It says what of what is \
done, and about how long a step still takes, from its own rate: "training delta: reranker 2 of 3, \
member 1 of 5, epoch 4 of 12 (about 40 s left)". The bar and the share are those \
of the whole command.

All commands take `-q`/`--quiet` (no progress, and no notices except warnings) and \
`-v`/`--verbose` (also what comes from the cache). Those that find systems by name take \
`--plugin FILE`: a Python file with [a plugin](plugins.md#a-plugin-in-a-file). Commands that take \
`--collection` take any of the names that [Collections](collections.md) explains.

An option whose value is written with `,…` takes several: `--reranker delta,drmm` is the same as
`--reranker delta --reranker drmm`. Commas in the brackets of a measure belong to it, and the path
of a collection may have commas. An id that has one is given in quotes: `--doc '"a,b",c'`.
"""


def reference() -> str:
    """The whole file."""
    return "\n".join(
        [HEAD, *_overview(), *(part for path in commands() for part in _section(path))]
    )


def fusing(text: str) -> str:
    """The page on fusion with its table of methods made anew."""
    rows = [f"| `{name}` | {method.summary} |\n" for name, method in fusion_methods().items()]
    head = "| `--by` | what a run adds to the score of a document |\n|---|---|\n"
    return _METHODS.sub(lambda _: head + "".join(rows), text)


def commands() -> Iterator[tuple[click.Command, str]]:
    """Every command of ours that can be called, with its name, parents first."""
    context = click.Context(cli, info_name="platform")
    for name in COMMANDS:
        command = cli.get_command(context, name)
        if command is not None:
            yield from _leaves(command, f"platform {name}")


def options(command: click.Command) -> list[click.Option]:
    """The options of a command, without those that most have."""
    return [
        parameter
        for parameter in command.params
        if isinstance(parameter, click.Option) and parameter.name not in COMMON
    ]


def _leaves(command: click.Command, name: str) -> Iterator[tuple[click.Command, str]]:
    if isinstance(command, click.Group):
        for part in command.commands.values():
            yield from _leaves(part, f"{name} {part.name}")
    else:
        yield command, name


def _overview() -> Iterator[str]:
    yield "| command | what it does |"
    yield "|---|---|"
    for command, name in commands():
        anchor = name.replace(" ", "-")
        yield f"| [`{name}`](#{anchor}) | {_formatted(_paragraphs(command)[0])} |"
    yield ""


def _section(path: tuple[click.Command, str]) -> Iterator[str]:
    command, name = path
    usage = " ".join([name, *(["[OPTIONS]"] if options(command) else []), *_arguments(command)])
    yield f"## {name}\n\n```\n{usage}\n```\n"
    yield "\n\n".join(map(_formatted, _paragraphs(command))) + "\n"
    if examples := getattr(command, "examples", ()):
        yield "\n".join(["```sh", *examples, "```\n"])
    groups = option_groups(options(command))
    for title, members in groups.items():
        if len(groups) > 1:
            yield f"**{title}**\n"
        yield "| option | default | meaning |"
        yield "|---|---|---|"
        for option in members:
            yield f"| {_names(option)} | {_default(option)} | {_meaning(option)} |"
        yield ""


def _arguments(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            yield parameter.human_readable_name + ("..." if parameter.nargs == -1 else "")


def _paragraphs(command: click.Command) -> list[str]:
    return [part.strip() for part in (command.help or "").split("\n\n") if part.strip()]


def _formatted(paragraph: str) -> str:
    return " ".join(paragraph.split())


def _names(option: click.Option) -> str:
    flags = [*option.opts, *option.secondary_opts]
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    kind = option.metavar or "|".join(choices) or option.type.name.split()[0].upper()
    value = "" if option.is_flag else f" {_escaped(kind)}"
    return ", ".join(f"`{flag}{value}`" for flag in flags)


def _default(option: click.Option) -> str:
    if option.required:
        return "*required*"
    value = option.to_info_dict()["default"]
    if option.is_flag or not isinstance(value, int | float | str | tuple | list) or not value:
        return ""
    return f"`{', '.join(map(str, value)) if isinstance(value, tuple | list) else value}`"


def _meaning(option: click.Option) -> str:
    text = _escaped(option.help or "")
    repeated = option.multiple and not isinstance(option, ListOption) and "epeat" not in text
    return f"{text} Can be repeated." if repeated else text


def _escaped(text: str) -> str:
    """A table's cell; the bar would end it, also in code."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    FUSING.write_text(fusing(FUSING.read_text(encoding="utf-8")), encoding="utf-8")
