"""The cache folder, and files and folders that appear whole or not at all.

What is being made lies beside its final name as scratch, in a hidden folder. The process that makes
it locks a file in the scratch, the mark, and the lock goes with the process, however that ends. So
the next process that makes the same thing removes the scratch of killed ones. Where files cannot be
locked there is no mark, and such scratch stays.
"""

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


_MARK = ".irplatform-at-work"
"""Ends the name of the mark."""


def home() -> Path:
    """The cache folder: `$IRPLATFORM_HOME`, else in the user's cache directory."""
    if configured := os.environ.get("IRPLATFORM_HOME"):
        return Path(configured).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("irplatform", appauthor=False))


def within_home(path: Path) -> Path:
    """A path relative to the cache folder if it lies there, for messages."""
    return path.relative_to(home()) if path.is_relative_to(home()) else path


@contextmanager
def atomic_write(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when the block ends without an error.

    Args:
        path: the final name; missing folders are made. A link stays, and the file that it leads to
            is written.
        mode: "w" (UTF-8 text) or "wb".

    Raises:
        InputError: the name is that of a folder or device, or the folder cannot be written to.
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
    """Give a file the permissions of any new one, after `mkstemp` or a library made it private."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod(0o666 & ~umask)


def _place(path: Path) -> Path:
    """The file to write for a name: of a link, what it leads to."""
    if path.is_dir():
        raise InputError("this is a folder; name a file.", path=path)
    if path.exists() and not path.is_file():
        raise InputError("this is a device or a pipe, not a file; name a file.", path=path)
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def write_json(
    path: Path, value: object, *, default: Callable[[object], object] | None = None
) -> None:
    """Write a value as a JSON file, whole or not at all."""
    content = as_json(value, default=default)
    with atomic_write(path, "wb") as file:
        file.write(content)


def as_json(value: object, *, default: Callable[[object], object] | None = None) -> bytes:
    """A value as the content of a JSON file.

    Names of files that are not UTF-8 become escapes, which Python's `json` reads and orjson does
    not.
    """
    text = json.dumps(value, indent=1, ensure_ascii=False, default=default)
    return f"{text}\n".encode(errors="backslashreplace")


def to_disk(path: Path) -> None:
    """Flush a file to the disk, before another file says that it is complete."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def same_file(first: Path, second: Path) -> bool:
    """Whether two paths lead to one file, however they are spelled."""
    return first.exists() and second.exists() and first.samefile(second)


def writable_folder(path: Path) -> Path:
    """A folder, after a check that files can be written to it or to where it will be made.

    Raises:
        InputError: they cannot.
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
    """A file name, after a check that the file can be written or overwritten."""
    writable_folder(_place(path).parent)
    return path


def refuse_taken(folder: Path) -> None:
    """Refuse the name of a folder to make unless it is free; an empty folder is free.

    Raises:
        InputError: it is a file, has something in it, or is the current folder, from which the one
            that takes its place could not be seen.
    """
    if same_file(folder, Path()):
        raise InputError("this is the folder that you are in; name another one.", path=folder)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError("this exists already; choose another folder, or remove it.", path=folder)


@contextmanager
def made_folder(path: Path) -> Iterator[None]:
    """Make a folder and its parents; if the block fails, those that are still empty are removed."""
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
        path: the final name, which must be free; see `refuse_taken`.

    Yields:
        An empty folder of the same name, beside the final one, to fill. Its parent is scratch,
        which vanishes after the block or, if the process is killed, when the same folder is made
        again.

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
    """Copy a folder to a free name; it appears there when it is complete."""
    with atomic_folder(target) as folder:
        shutil.copytree(source, folder, dirs_exist_ok=True)


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """A hidden folder for scratch beside something that is being made; it vanishes after the block.

    Scratch that killed processes left there is removed.

    Args:
        path: what is being made. No file in the scratch may begin with its name and end in
            ".irplatform-at-work".

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
    """A new file that is locked before it has its name; None where files cannot be locked."""
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
    """Lock an open file or folder until it is closed.

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
    """Remove the scratch of killed processes: what has a mark that no process holds."""
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
