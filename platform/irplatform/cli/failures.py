"""Messages for wrong usage and for errors that no command handles, such as full disks."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from irplatform.cli.names import ListOption
from irplatform.errors import (
    InputError,
    disk_fault,
    in_a_line,
    lacks_resources,
    lacks_space,
    lost,
)
from irplatform.system.packages import missing_extra

if TYPE_CHECKING:
    from collections.abc import Container, Sequence


_SHORT = len("-x")
_NUMBER = r"valid (integer|float)( range)?"
_KINDS = {"integer": "whole number", "float": "number"}


def check_usage(command: click.Command, arguments: Sequence[str], parent: click.Context) -> None:
    """Refuse an option of one value that is given twice, and extra words.

    Click takes the last value: `--collection a --collection b` would look like a run of both.
    """
    context = click.Context(command, parent=parent, **command.context_settings)
    try:
        values, rest, parameters = command.make_parser(context).parse_args(list(arguments))
    except click.UsageError:
        return
    for option, times in Counter(parameters).items():
        if not isinstance(option, click.Option) or option.is_flag or option.count:
            continue
        if times > 1 and not option.multiple:
            name = max(option.opts, key=len)
            raise InputError(f"{name} takes one value, but is given {times} times.")
    if isinstance(command, click.Group):
        if rest and (inner := command.get_command(context, rest[0])) is not None:
            check_usage(inner, rest[1:], context)
        return
    word = values.get("experiment")
    if isinstance(word, str) and not word.endswith(".toml"):
        rest = [word, *rest]
    option_names = {
        parameter.name for parameter in parameters if isinstance(parameter, click.Option)
    }
    asks_for_help = any(getattr(parameter, "is_eager", False) for parameter in parameters)
    if rest and not asks_for_help and (meant := _meant(command, arguments, rest, option_names)):
        raise InputError(f"'{' '.join(rest)}' has no option. Did you mean {meant}?")


def _meant(
    command: click.Command,
    arguments: Sequence[str],
    rest: Sequence[str],
    option_names: Container[str | None],
) -> str:
    """The option that extra words need, or ""."""
    options = {option.name: option for option in command.params if isinstance(option, click.Option)}
    before = [*arguments][: max(i for i, word in enumerate(arguments) if word == rest[0])]
    flags = [i for i, word in enumerate(before) if word.startswith("-")]
    if flags:
        flag, equals, value = before[flags[-1]].partition("=")
        values = [*([value] if equals else []), *before[flags[-1] + 1 :]]
        lists = [o for o in options.values() if isinstance(o, ListOption) and flag in o.opts]
        if lists and values:
            return f"{flag} {','.join([*values, *rest])}"
    names = {"collection", "collections"}
    if names & {*options} and not any(name in option_names for name in names):
        return f"--collection {rest[0]}"
    if "query" in options and "query" not in option_names:
        return f"--query '{' '.join(rest)}'"
    return ""


def explained(error: click.ClickException) -> str:
    """Return a message of click in our words."""
    if not isinstance(error, click.UsageError):
        return error.format_message()
    helped = f"`{error.ctx.command_path} --help` explains it." if error.ctx else ""
    match error:
        case click.NoSuchOption():
            return f"no option {error.option_name}. {_option_meant(error) or helped}".rstrip()
        case click.BadOptionUsage():
            return f"{error.message.removeprefix('Option ').replace(chr(39), '')} {helped}".rstrip()
        case click.MissingParameter(param=click.Parameter() as missing):
            name = missing.make_metavar(error.ctx) if error.ctx else str(missing.name)
            if isinstance(missing, click.Option):
                name = f"{max(missing.opts, key=len)} {name}"
            return f"{name.removesuffix('...')} is missing. {helped}".rstrip()
        case click.BadParameter(param=click.Parameter() as wrong):
            name = f"{max(wrong.opts, key=len)}: " if isinstance(wrong, click.Option) else ""
            return name + re.sub(_NUMBER, lambda kind: _KINDS[kind[1]], error.message)
    return f"{error.format_message().removeprefix('Got ').rstrip('.')}. {helped}".rstrip()


def _option_meant(error: click.NoSuchOption) -> str:
    """A question about the right option, or the place of options."""
    if error.ctx is not None and isinstance(error.ctx.command, click.Group):
        return "Put a command's options after the command."
    flags = [name for o in (error.ctx.command.params if error.ctx else ()) for name in o.opts]
    words = [f"-{word.partition('=')[0]}" for word in sys.argv if len(error.option_name) == _SHORT]
    meant = [word for word in words if word[1:].startswith(error.option_name) and word in flags]
    near = [*meant, *(error.possibilities or ())]
    return f"Did you mean {near[0]}?" if near else ""


def refused(error: BaseException) -> str:
    """Return what the operating system refused and what to do, or ""."""
    if disk_fault(error):
        return f"{_disk(error)}{lost(error)}"
    if lacks_resources(error):
        return (
            f"there is too little memory, or too few processes are allowed ({in_a_line(error)}). "
            f"Check `ulimit -a`, or use a smaller batch or depth.{lost(error)}"
        )
    if missing := missing_extra(error):
        return missing
    if isinstance(error, ValueError) and "embedded null" in str(error):
        return "a file name contains a NUL character, which no file can have."
    if isinstance(error, RuntimeError) and "Symlink loop from" in str(error):  # of Path.resolve
        return f"{str(error).partition(' from ')[2]}: this link leads back to itself."
    return _system_error(error) if isinstance(error, OSError) else ""


def _disk(error: BaseException) -> str:
    name = getattr(error, "filename", None)
    if not lacks_space(error):
        return (
            f"{f'{name}: ' if name else ''}Input/output error: the disk, or the network that it is "
            "on, failed. What was finished is kept. Run the same command again when it works."
        )
    return (
        f"no space is left on the disk{f' ({name})' if name else ''}. `platform cache list` shows "
        "what the cache holds, and `platform cache remove` frees space. Then run the same command "
        "again to continue."
    )


def _system_error(error: OSError) -> str:
    from irplatform.files.reading import NO_FILES

    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        if error.filename is None:
            return str(error)
        advice = (
            " Set IRPLATFORM_HOME to one of your folders." if _is_cached(error.filename) else ""
        )
        return f"{error.filename}: {error.strerror}.{advice}"
    if isinstance(error, FileNotFoundError) and _is_cached(error.filename):
        return (
            f"{error.filename}: this was removed from the cache while the command was using it. "
            f"Run the same command again to rebuild it.{lost(error)}"
        )
    wrong = NO_FILES.get(error.errno or 0)
    return f"{error.filename}: {wrong}" if wrong else ""


def _is_cached(name: object) -> bool:
    from irplatform.files.writing import home

    try:
        return isinstance(name, str | os.PathLike) and Path(name).is_relative_to(home())
    except InputError:  # the cache has no valid name
        return False


def give_up_files() -> None:
    """Say no more of files that a disk does not take, which Python closes at exit."""
    usual = sys.unraisablehook

    def hook(error: sys.UnraisableHookArgs) -> None:
        if error.exc_value is None or not disk_fault(error.exc_value):
            usual(error)

    sys.unraisablehook = hook


def give_up_stdout() -> None:
    """Drop unwritten output, which Python would try to write again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
