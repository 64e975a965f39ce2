"""Messages for wrong usage and for errors that no command handles: full disks, closed pipes.

Click silently takes the last value of an option that is given several times: a run of `--collection
a --collection b` would look like one of both. `check_usage` refuses that, and names the option that
a word too many belongs to.
"""

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
from irplatform.errors import InputError, in_a_line, lacks_resources, lacks_space
from irplatform.system.packages import missing_extra

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence


_SHORT = len("-x")

_NUMBER = r"valid (integer|float)( range)?"

_KINDS = {"integer": "whole number", "float": "number"}


def check_usage(command: click.Command, arguments: Sequence[str], parent: click.Context) -> None:
    """Refuse an option of one value that is given twice, and words that belong to no option.

    Args:
        command: the command; a group's subcommand is checked instead.
        arguments: its arguments. Those that it cannot parse are left to it.
        parent: the context that it is called in.
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
    """The option that extra words belong to; "" if unknown."""
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


def explained(error: click.ClickException) -> str:
    """Return a message of click's in our words: what is wrong, and what to do."""
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
    """A question about the option that was probably meant, or where options belong."""
    if error.ctx is not None and isinstance(error.ctx.command, click.Group):
        return "Put a command's options after the command."
    known = [name for o in (error.ctx.command.params if error.ctx else ()) for name in o.opts]
    words = [f"-{word.partition('=')[0]}" for word in sys.argv if len(error.option_name) == _SHORT]
    meant = [word for word in words if word[1:].startswith(error.option_name) and word in known]
    near = [*meant, *(error.possibilities or ())]
    return f"Did you mean {near[0]}?" if near else ""


def refused(error: BaseException) -> str:
    """Return what the operating system refused and what to do; "" if only a traceback tells."""
    if lacks_space(error):
        name = getattr(error, "filename", None)
        where = f" ({name})" if name else ""
        return (
            f"no space is left on the disk{where}. `platform cache list` shows what the cache "
            "holds, and `platform cache remove` frees space. Then run the same command again to "
            "continue."
            f"{lost(error)}"
        )
    if lacks_resources(error):
        return (
            f"there is too little memory, or too few processes are allowed ({in_a_line(error)}). "
            f"Check `ulimit -a`, or use a smaller batch or depth.{lost(error)}"
        )
    if missing := missing_extra(error):
        return missing
    if not isinstance(error, OSError):
        nul = isinstance(error, ValueError) and "embedded null" in str(error)
        return "a file name contains a NUL character, which no file can have." if nul else ""
    return _of_the_system(error)


def _of_the_system(error: OSError) -> str:
    from irplatform.system.reading import NO_FILES

    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return _forbidden(error)
    if isinstance(error, FileNotFoundError) and _is_cached(error.filename):
        return (
            f"{error.filename}: this was removed from the cache while the command was using it. "
            f"Run the same command again to rebuild it.{lost(error)}"
        )
    wrong = NO_FILES.get(error.errno or 0)
    return f"{error.filename}: {wrong}" if wrong else ""


def _forbidden(error: OSError) -> str:
    if error.filename is None:
        return str(error)
    message = f"{error.filename}: {error.strerror}."
    if _is_cached(error.filename):
        message += " Set IRPLATFORM_HOME to a folder of your own."
    return message


def _is_cached(name: object) -> bool:
    """Return whether a file's name, as errors have it, lies in the cache."""
    from irplatform.system.writing import home

    try:
        return isinstance(name, str | os.PathLike) and Path(name).is_relative_to(home())
    except InputError:  # it has no name that can be used
        return False


def give_up_stdout() -> None:
    """Drop unwritten output: Python would try again at the end, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes: click and libraries wrap errors."""
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def lost(error: BaseException) -> str:
    """Return the notes of `cache.artifact` on work that starts over; "" if there is none."""
    notes: list[str] = []
    for cause in chain(error):
        notes += [note for note in getattr(cause, "__notes__", ()) if note not in notes]
    return "".join(f" {note}" for note in notes)
