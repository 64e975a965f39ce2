"""The cache folder, and files and folders that appear whole or not at all.

Unfinished output lies beside its final name, in a hidden file or folder.
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

from irplatform.errors import InputError, disk_fault
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def home() -> Path:
    """Return the cache folder: `$IRPLATFORM_HOME`, else in the user's cache directory.

    InputError if it is a file, or a link that leads nowhere.
    """
    if configured := os.environ.get("IRPLATFORM_HOME"):
        folder = Path(configured).expanduser().absolute()
    else:
        import platformdirs

        folder = Path(platformdirs.user_cache_dir("irplatform", appauthor=False))
    _refuse_no_folder(folder, " Set IRPLATFORM_HOME to a folder for the cache.")
    return folder


def settings_folder() -> Path:
    """Return the folder of what the user sets once: `$IRPLATFORM_HOME`, else the system's."""
    if os.environ.get("IRPLATFORM_HOME"):
        return home()
    import platformdirs

    return Path(platformdirs.user_config_dir("irplatform", appauthor=False))


def _refuse_no_folder(path: Path, advice: str = "") -> Path:
    """Refuse a path where no folder can be; return the innermost folder that is there."""
    present = next(place for place in (path, *path.parents) if _has_entry(place))
    if present.is_dir():
        return present
    if present.exists():
        raise InputError(f"this is a file, not a folder to write to.{advice}", path=present)
    raise InputError(f"this link leads nowhere, or back to itself.{advice}", path=present)


def _has_entry(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def within_home(path: Path) -> Path:
    """A path relative to the cache folder if it lies there, for messages."""
    return path.relative_to(home()) if path.is_relative_to(home()) else path


@contextmanager
def atomic_write(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when the block ends without an error.

    Missing folders are made; of a link, its target is written. The mode is "w" (UTF-8 text) or
    "wb". InputError if the name is a folder's or device's, or the folder cannot be written to.
    """
    path = _place(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError("cannot write here: its folder is a file.", path=path) from error
    except OSError as error:
        if disk_fault(error):
            raise
        raise InputError(f"cannot write here: {error.strerror}.", path=path) from error
    temporary = Path(name)
    try:
        with (
            disk_named(path),
            os.fdopen(handle, mode, encoding=None if "b" in mode else "utf-8") as file,
        ):
            yield file
        share(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def disk_named(path: Path) -> Iterator[None]:
    """Name a file in the error of a disk that is full or fails: a write names none."""
    try:
        yield
    except OSError as error:
        if error.errno and disk_fault(error):  # shutil's of several files has only a text
            error.filename = error.filename or str(path)
        raise


def share(path: Path) -> None:
    """Give a file the permissions of any new one, after `mkstemp` or a library made it private."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod(0o666 & ~umask)


def _place(path: Path) -> Path:
    """The file to write for a name; for a link, its target."""
    if path.is_dir():
        raise InputError("this is a folder; name a file.", path=path)
    if path.exists() and not path.is_file():
        raise InputError("this is a device or a pipe, not a file; name a file.", path=path)
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if target.is_symlink():
        raise InputError("this link leads back to itself.", path=path)
    return target


def write_file(path: Path, content: bytes, *, force: bool = False) -> None:
    """Write a file that a user named, whole or not at all.

    Raises:
        InputError: it exists with other content, and `force` does not replace it.
    """
    if not force and path.is_file() and path.read_bytes() != content:
        raise InputError(
            "this file already exists, with other content. Name another "
            f"{option('out')}, or replace it with {option('force', True)}.",
            path=path,
        )
    with atomic_write(path, "wb") as file:
        file.write(content)


def write_json(path: Path, value: object) -> None:
    """Write a value as a JSON file, whole or not at all."""
    content = as_json(value)
    with atomic_write(path, "wb") as file:
        file.write(content)


def as_json(value: object, *, default: Callable[[object], object] | None = None) -> bytes:
    """Return the content of a JSON file; names that are not UTF-8 become escapes."""
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
    """Tell if two paths lead to one file."""
    return first.exists() and second.exists() and first.samefile(second)


def refuse_same_file(source: Path, out: Path) -> None:
    """Refuse to write to the file that is read."""
    if same_file(source, out):
        raise InputError(f"{option('out', out)} is the input itself; name another file.")


def writable_folder(path: Path) -> Path:
    """Return a folder, after a check that it can be made or written to."""
    present = _refuse_no_folder(path)
    try:
        Path(tempfile.mkdtemp(dir=present)).rmdir()  # permissions alone do not tell
    except OSError as error:
        if disk_fault(error):
            raise
        raise InputError(
            f"this folder cannot be written to: {error.strerror}.", path=present
        ) from error
    return path


def writable_file(path: Path) -> Path:
    """Return a file name, after a check that the file can be written."""
    writable_folder(_place(path).parent)
    return path


def refuse_taken(folder: Path, *, replaces: bool = False) -> None:
    """Refuse a folder to make if it is the current one, or one with files that nothing replaces."""
    if same_file(folder, Path()):
        raise InputError("this is the folder that you are in; name another one.", path=folder)
    if not replaces and folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError("this exists already; choose another folder, or remove it.", path=folder)


@contextmanager
def made_folder(path: Path) -> Iterator[None]:
    """Make a folder and its parents; if the block fails, those that are still empty are removed."""
    _refuse_no_folder(path)
    folders = list(takewhile(lambda folder: not folder.exists(), (path, *path.parents)))
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # somebody else has put something there
            for folder in folders:
                folder.rmdir()
        raise


@contextmanager
def atomic_folder(path: Path, *, replaces: bool = False) -> Iterator[Path]:
    """Yield an empty folder that appears under its name only if the block ends without an error.

    It has the same name, in a hidden folder beside the final one. InputError if something is there
    already, unless it `replaces` that, or the place cannot be written to.
    """
    refuse_taken(path, replaces=replaces)
    with (
        disk_named(path),
        made_folder(writable_folder(path).parent),
        tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as scratch,
    ):
        filled = Path(scratch, path.name)
        filled.mkdir()
        yield filled
        if replaces and path.exists():
            path.rename(Path(scratch, "replaced"))
        filled.replace(path)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder to a free name, where it appears when it is complete."""
    with atomic_folder(target) as folder:
        shutil.copytree(source, folder, dirs_exist_ok=True)


def lock_open(handle: int) -> None:
    """Lock an open file or folder until it is closed.

    BlockingIOError if another process holds it; OSError if it cannot be locked here.
    """
    try:
        import fcntl
    except ImportError as error:
        raise OSError("files cannot be locked on this system") from error
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
