"""Files and folders that appear whole or not at all, and digests that stand for content."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from irplatform.errors import InputError, lacks_space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# Scratch beside a file or folder that is being made, which outlives no process for long.
#
# Scratch is a hidden folder. A process that is killed leaves it; the next one that makes the same
# thing removes it. A locked file in it, the mark, tells scratch that is in use from what was left:
# the lock goes with its process, however that ends. Where files cannot be locked there is no mark,
# and what a killed process leaves stays.

_MARK = ".irplatform-at-work"
"""Ends the name of the mark."""


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """A folder for scratch, which vanishes when the block ends; so does what was left before.

    Args:
        path: what is being made; its folder is there.

    Yields:
        The scratch, a hidden folder beside it. No file in it may begin with the name of what is
        made and end in ".irplatform-at-work".

    Raises:
        OSError: nothing can be written there.
    """
    _remove_left(path)
    scratch = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    handle = None
    try:
        handle = _locked_file(_mark(scratch, path))
        yield scratch
    finally:
        shutil.rmtree(scratch)  # while it is held: no other process is at it
        if handle is not None:
            os.close(handle)


def _mark(scratch: Path, path: Path) -> Path:
    return scratch / f"{path.name}{_MARK}"


def _locked_file(path: Path) -> int | None:
    """A new file that is locked from the moment that it has its name; None where none can be."""
    new = path.with_name(f"{path.name}.new")
    handle = os.open(new, os.O_RDWR | os.O_CREAT)
    try:
        lock_open(handle)
        new.rename(path)
    except OSError:
        os.close(handle)
        return None
    return handle


def lock_open(handle: int) -> None:
    """Lock an open file or folder, until it is closed.

    Raises:
        BlockingIOError: another process holds it.
        OSError: it cannot be locked here.
    """
    try:
        import fcntl
    except ImportError as error:
        raise OSError("files cannot be locked on this system") from error
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_left(path: Path) -> None:
    """Remove the scratch of killed processes: what is marked, where no process holds the mark."""
    with suppress(OSError):
        for scratch in path.parent.iterdir():
            if scratch.name.startswith(f".{path.name}.") and not scratch.is_symlink():
                _remove_unless_held(scratch, _mark(scratch, path))


def _remove_unless_held(scratch: Path, mark: Path) -> None:
    try:
        handle = os.open(mark, os.O_RDWR)
    except OSError:  # it is no scratch of ours, or another process has just removed it
        return
    try:
        lock_open(handle)
        shutil.rmtree(scratch)
    except OSError:
        return
    finally:
        os.close(handle)


@contextmanager
def atomic_write(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when the block ends without an error.

    Args:
        path: the final name; its folder is made if it is missing. Where it is a link, the file that
            it leads to is written.
        mode: "w" (UTF-8 text) or "wb".

    Raises:
        InputError: the name is that of something else than a file, or the folder cannot be written
            to.
    """
    path = _place(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError("cannot write here: its folder is a file.", path=path) from error
    except OSError as error:
        raise InputError(f"cannot write here: {error.strerror}.", path=path) from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, mode, encoding=None if "b" in mode else "utf-8") as file:
            yield file
        share(temporary)
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and lacks_space(error):
            error.filename = error.filename or str(path)  # which disk is full
        raise


def share(path: Path) -> None:
    """Give a file the permissions of any new one, where `mkstemp` or a library made it private."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod(0o666 & ~umask)


def _place(path: Path) -> Path:
    """Where a file of a name is written: a link stays, for what it leads to is written."""
    if path.is_dir():
        raise InputError("this is a folder; name a file.", path=path)
    if path.exists() and not path.is_file():
        raise InputError("this is a device or a pipe, not a file; name a file.", path=path)
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def to_disk(path: Path) -> None:
    """Have a file written to the disk, so that it is whole where others say that it is there."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_json(
    path: Path, value: object, *, default: Callable[[object], object] | None = None
) -> None:
    """Write a value as a JSON file, whole or not at all."""
    content = as_json(value, default=default)
    with atomic_write(path, "wb") as file:
        file.write(content)


def as_json(value: object, *, default: Callable[[object], object] | None = None) -> bytes:
    """A value as the content of a JSON file.

    Names of files that are not UTF-8 become the escapes that JSON has for them. Python's `json`
    reads those, orjson does not.
    """
    text = json.dumps(value, indent=1, ensure_ascii=False, default=default)
    return f"{text}\n".encode(errors="backslashreplace")


def same_file(first: Path, second: Path) -> bool:
    """Whether two paths lead to one file, however they are spelled."""
    return first.exists() and second.exists() and first.samefile(second)


def writable_folder(path: Path) -> Path:
    """A folder that files can be written to; nothing is left there if it is new and they cannot.

    Raises:
        InputError: it cannot be made or written to.
    """
    present = path
    while not present.exists():
        present = present.parent
    if not present.is_dir():
        raise InputError("this is a file, not a folder to write to.", path=present)
    try:
        Path(tempfile.mkdtemp(dir=present)).rmdir()  # permissions alone do not tell
    except OSError as error:
        raise InputError(
            f"this folder cannot be written to: {error.strerror}.", path=present
        ) from error
    return path


def writable_file(path: Path) -> Path:
    """A file that can be written, or written over."""
    writable_folder(_place(path).parent)
    return path


def refuse_taken(folder: Path) -> None:
    """Refuse the name of a folder to make that is not free; an empty folder is free.

    Raises:
        InputError: it is a file, has something in it, or is the current folder: who is in it would
            not see the one that takes its place.
    """
    if same_file(folder, Path()):
        raise InputError("this is the folder that you are in; name another one.", path=folder)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError("this exists already; choose another folder, or remove it.", path=folder)


@contextmanager
def made_folder(path: Path) -> Iterator[None]:
    """Make a folder, and those that it lies in; those made go, while empty, if the block fails."""
    made = list(takewhile(lambda folder: not folder.exists(), (path, *path.parents)))
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # somebody else has put something there
            for folder in made:
                folder.rmdir()
        raise


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Make a folder that appears under its name only when the block ends without an error.

    Args:
        path: the final name, which must be free, see `refuse_taken`.

    Yields:
        An empty folder with the same name, beside the final one, to fill. Whatever lies beside
        *it*, in its parent, is scratch: it vanishes when the block ends; or, where the process is
        killed, when the same folder is made again.

    Raises:
        InputError: something is there already, or the place cannot be written to.
    """
    refuse_taken(path)
    with made_folder(writable_folder(path).parent), scratch_beside(path) as scratch:
        filled = scratch / path.name
        filled.mkdir()
        yield filled
        filled.replace(path)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder to a name that is free; it appears there when it is complete."""
    with atomic_folder(target) as folder:
        shutil.copytree(source, folder, dirs_exist_ok=True)


# Where the cache lies.


def home() -> Path:
    """The cache folder: `$IRPLATFORM_HOME`, else the user's cache directory."""
    if configured := os.environ.get("IRPLATFORM_HOME"):
        return Path(configured).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("irplatform", appauthor=False))


def within_home(path: Path) -> Path:
    """A path as seen from the cache, where it lies there; for messages."""
    return path.relative_to(home()) if path.is_relative_to(home()) else path
