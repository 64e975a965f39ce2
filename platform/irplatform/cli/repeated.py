"""Refuses options that take one value and are given several times.

click takes the last one silently, and a run of `--collection a --collection b` would look like one
of both.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


def refuse_repeated(
    command: click.Command, arguments: Sequence[str], parent: click.Context
) -> None:
    """See that no option which takes one value is given twice.

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
    if isinstance(command, click.Group) and rest:
        inner = command.get_command(context, rest[0])
        if inner is not None:
            refuse_repeated(inner, rest[1:], context)


def _takes_one(option: click.Option) -> bool:
    return not (option.multiple or option.is_flag or option.count)
