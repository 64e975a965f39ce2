"""Several options for a command at once, so that commands can share them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Command = TypeVar("Command", bound=Callable[..., Any])


def with_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """A decorator that gives a command options, above those that it has, in their order.

    Args:
        options: what `click.option` makes, or this function.
    """

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
