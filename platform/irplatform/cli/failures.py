"""Messages for errors that no command handles itself: wrong options, full disks and others."""

from __future__ import annotations

import errno
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from irplatform.errors import InputError, in_a_line, lacks_resources, lacks_space
from irplatform.system.packages import missing_extra

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORT = len("-x")
_NUMBER = r"valid (integer|float)( range)?"
_KINDS = {"integer": "whole number", "float": "number"}


def explained(error: click.ClickException) -> str:
    """What click says of a call, in our words: what is wrong, and what to do."""
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
    """The question for the option that a wrong one nearly is, or where options belong."""
    if error.ctx is not None and isinstance(error.ctx.command, click.Group):
        return "Put a command's options after the command."
    known = [name for o in (error.ctx.command.params if error.ctx else ()) for name in o.opts]
    words = [f"-{word.partition('=')[0]}" for word in sys.argv if len(error.option_name) == _SHORT]
    meant = [word for word in words if word[1:].startswith(error.option_name) and word in known]
    near = [*meant, *(error.possibilities or ())]
    return f"Did you mean {near[0]}?" if near else ""


def refused(error: BaseException) -> str:
    """What the operating system refused, and what to do; "" where only a traceback tells."""
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
    """What we may not read or write, and what to do."""
    if error.filename is None:
        return str(error)
    message = f"{error.filename}: {error.strerror}."
    if _is_cached(error.filename):
        message += " Set IRPLATFORM_HOME to a folder of your own."
    return message


def _is_cached(name: object) -> bool:
    """Whether the name of a file, as errors have it, is that of the cache or of something there."""
    from irplatform.system.writing import home

    try:
        return isinstance(name, str | os.PathLike) and Path(name).is_relative_to(home())
    except InputError:  # it has no name that can be used
        return False


def give_up_stdout() -> None:
    """Drop what cannot be written to stdout: Python tries again at the end, and complains."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and what it was made from: click and libraries make errors of their own."""
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def lost(error: BaseException) -> str:
    """What does not go on but starts over, as `cache.artifact` noted it; "" where all does."""
    notes: list[str] = []
    for cause in chain(error):
        notes += [note for note in getattr(cause, "__notes__", ()) if note not in notes]
    return "".join(f" {note}" for note in notes)
