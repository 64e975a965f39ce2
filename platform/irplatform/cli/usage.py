"""Refuses what click takes silently, or explains in words that do not help.

Of an option that takes one value and is given several times click takes the last one: a run of
`--collection a --collection b` would look like one of both. Of a word too many it says only that.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from irplatform.cli.names import ListOption
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Container, Sequence


def check_usage(command: click.Command, arguments: Sequence[str], parent: click.Context) -> None:
    """See that no option which takes one value is given twice, and that no word is left over.

    Args:
        command: what is called; a group's subcommand is looked into.
        arguments: of the command. Those that it does not understand are left to it.
        parent: the context that it is called in.

    Raises:
        InputError: one is.
    """
    context = click.Context(command, parent=parent, **command.context_settings)
    try:
        _, rest, parameters = command.make_parser(context).parse_args(list(arguments))
    except click.UsageError:
        return
    for option, times in Counter(parameters).items():
        if times > 1 and isinstance(option, click.Option) and _takes_one(option):
            name = max(option.opts, key=len)
            raise InputError(f"{name} takes one value, but is given {times} times.")
    if isinstance(command, click.Group):
        inner = command.get_command(context, rest[0]) if rest else None
        if inner is not None:
            check_usage(inner, rest[1:], context)
        return
    given = {parameter.name for parameter in parameters}
    asks_for_help = any(getattr(parameter, "is_eager", False) for parameter in parameters)
    if rest and not asks_for_help and (meant := _meant(command, arguments, rest, given)):
        raise InputError(f"'{' '.join(rest)}' belongs to no option. Did you mean {meant}?")


def _takes_one(option: click.Option) -> bool:
    return not (option.multiple or option.is_flag or option.count)


def _meant(
    command: click.Command,
    arguments: Sequence[str],
    rest: Sequence[str],
    given: Container[str | None],
) -> str:
    """The option that words too many belong to; "" where that is not known."""
    options = {option.name: option for option in command.params if isinstance(option, click.Option)}
    before = [*arguments][: max(i for i, word in enumerate(arguments) if word == rest[0])]
    flags = [i for i, word in enumerate(before) if word.startswith("-")]
    if flags:
        flag, equals, value = before[flags[-1]].partition("=")
        values = [*([value] if equals else []), *before[flags[-1] + 1 :]]
        lists = [o for o in options.values() if isinstance(o, ListOption) and flag in o.opts]
        if lists and values:
            return f"{flag} {','.join([*values, *rest])}"
    if "collection" in options and "collection" not in given:
        return f"--collection {rest[0]}"
    if "query" in options and "query" not in given:
        return f"--query '{' '.join(rest)}'"
    return ""
