"""Commands with grouped options and examples in their help, and groups that suggest commands."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from irplatform.errors import InputError, nearest, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Declared = TypeVar("Declared", bound=Callable[..., Any])
_OTHER = "Other"
_COLUMN = 30
"""Characters of the widest option whose help stands beside it."""
_SAME = (
    ("remove", "delete", "rm", "clean", "clear", "prune", "purge", "forget", "uninstall"),
    ("list", "ls", "all"),
    ("show", "info", "describe", "view", "cat", "options"),
    ("new", "add", "create", "init", "install", "import", "register"),
    ("build", "create", "make"),
    ("check", "validate", "verify", "lint", "test"),
    ("download", "fetch", "get", "pull"),
    ("export", "dump", "save", "write"),
)
"""Words of other programs for a command; a group has at most one of a row."""


class Command(click.Command):
    """A command whose help shows options in groups, and examples."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.examples = tuple(examples)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, then the examples."""
        super().format_help_text(ctx, formatter)
        write_examples(self.examples, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group of options, in equal columns."""
        groups = option_groups(
            option
            for option in self.get_params(ctx)
            if isinstance(option, click.Option) and option.get_help_record(ctx)
        )
        rows_by_title = {
            title: [_row(o, ctx) for o in options] for title, options in groups.items()
        }
        widths = [len(names) for rows in rows_by_title.values() for names, _ in rows]
        column = max((width for width in widths if width <= _COLUMN), default=0)
        for title, rows in rows_by_title.items():
            example = next((vars(o)["example"] for o in groups[title] if "example" in vars(o)), "")
            with formatter.section(f"{title}, for example {example}" if example else title):
                padded = [(names.ljust(column), text) for names, text in rows]
                formatter.write_dl(padded, col_max=column)


def _row(option: click.Parameter, context: click.Context) -> tuple[str, str]:
    names, text = option.get_help_record(context) or ("", "")
    return re.sub(r" (INTEGER|FLOAT)( RANGE)?$", " N", names), text


def option_groups(options: Iterable[click.Parameter]) -> dict[str, list[click.Parameter]]:
    """Return options by the title of their group; a single group is called "Options"."""
    groups: dict[str, list[click.Parameter]] = {}
    for option in options:
        groups.setdefault(vars(option).get("group", _OTHER), []).append(option)
    if len(groups) < 2:
        return dict(zip(["Options"], groups.values(), strict=False))
    from irplatform.settings import MACHINE, OUTPUT

    last = {OUTPUT: 1, MACHINE: 2, _OTHER: 3}
    return {title: groups[title] for title in sorted(groups, key=lambda title: last.get(title, 0))}


def write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    """Write a section of command lines, unwrapped."""
    if examples:
        with formatter.section("Example" if len(examples) == 1 else "Examples"):
            for line in examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Group(click.Group):
    """A group of commands; the error for a wrong name has the right one."""

    command_class = Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the first sentence of each."""
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                rows.append((name, " ".join((command.help or "").partition("\n\n")[0].split())))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; InputError for an unknown name."""
        name = args[0]
        if name.startswith("-") or ctx.resilient_parsing or name in self.list_commands(ctx):
            return super().resolve_command(ctx, args)
        raise self.no_command(name, self.list_commands(ctx), ctx.command_path)

    def no_command(self, name: str, names: list[str], path: str) -> InputError:
        """Return the error for an unknown command."""
        if not nearest(name, names):
            same = [word for row in _SAME if name.lower() in row for word in row]
            names = [word for word in same if word in names][:1] or names
            if names[0] in same:
                return InputError(
                    f"'{name}' is not a command of {path}. Did you mean '{names[0]}'?"
                )
        return unknown("command", name, names, of=path)


Group.group_class = Group


def command(*examples: str) -> Callable[[Callable[..., Any]], Command]:
    """Decorate like `click.command`, with examples of use."""
    return click.command(cls=Command, examples=examples)


def with_options(
    *options: Callable[[Declared], Declared], group: str = "", example: str = ""
) -> Callable[[Declared], Declared]:
    """Return a decorator that adds options, with a heading and an example in the help."""

    def decorate(function: Declared) -> Declared:
        before = len(getattr(function, "__click_params__", ()))
        for option in reversed(options):
            function = option(function)
        for number, parameter in enumerate(function.__click_params__[before:]):  # type: ignore[attr-defined]
            if group:
                vars(parameter)["group"] = group
            if example and not number:
                vars(parameter)["example"] = example
        return function

    return decorate
