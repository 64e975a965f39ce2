"""What ir_datasets would download for a dataset, before it does.

The library keeps its downloads inside the readers of a dataset's parts. They are found by looking
through those readers; a file that lies there already, or whose content does, is left out.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import IOBase
from pathlib import Path
from traceback import walk_tb
from types import FunctionType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from irplatform.errors import InputError, PlatformError, counted, in_a_line, lacks_space
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


PARTS = ("docs", "queries", "qrels")
FAILURES = (OSError, RuntimeError, EOFError)
"""What a download raises: no network (requests' errors are OSErrors), a wrong checksum or no
mirror left, and a password asked for where nobody can answer."""


@dataclass(frozen=True)
class Download:
    """A file that is needed and not there.

    Attributes:
        source: its URL, or "" where it has to be asked for.
        size: its size in bytes, where that is known.
        path: where it can be put by hand, if it has a place of its own.
        instructions: how to get it, where nothing can be downloaded.
    """

    source: str
    size: int | None
    path: Path | None
    instructions: str = ""

    def __str__(self) -> str:
        return f"{self.source or self.instructions} ({size_text(self.size)})"


@contextmanager
def refusing_damage(dataset_id: str, part: str = "") -> Iterator[None]:
    """Name the file where ir_datasets stumbles over one that is damaged.

    The library lets through whatever error its readers have: of zip, gzip, LZ4, pickle, JSON.

    Raises:
        InputError: a file is damaged.
    """
    from ir_datasets.util import home_path

    try:
        yield
    except (PlatformError, MemoryError):
        raise
    except Exception as error:
        file = _file_being_read(error, home_path())
        if file is None or lacks_space(error):
            raise
        store = file.parent if file.parent.suffix == ".pklz4" else None
        what = f"the folder {store}" if store else "it"
        raise InputError(
            f"this file of ir_datasets is damaged: {part or 'parts'} of '{dataset_id}' cannot be "
            f"read ({in_a_line(error)}). Remove {what} and run this again, which fetches or "
            "unpacks it again.",
            path=file,
        ) from error


def _file_being_read(error: Exception, folder: Path) -> Path | None:
    """The file in a folder that the innermost functions were at, unless these are our own."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    if str(frames[-1].f_globals.get("__name__")).startswith("irplatform."):
        return None
    for frame in reversed(frames):
        for value in frame.f_locals.values():
            name = getattr(value, "name", None) if isinstance(value, IOBase) else value
            if isinstance(name, str | Path) and Path(name).is_relative_to(folder):
                inside = Path(name, "bin") if Path(name).suffix == ".pklz4" else Path(name)
                with suppress(OSError, ValueError):
                    if inside.is_file():
                        return inside
    return None


def what_would_be_downloaded(dataset_id: str, parts: Iterable[str] = PARTS) -> list[Download]:
    """The files that reading parts of a dataset would download.

    Raises:
        PlatformError: even that cannot be told without a network (a few datasets).
    """
    return [download for download, _ in missing_downloads([dataset_id], parts)]


def missing_downloads(
    dataset_ids: Iterable[str], parts: Iterable[str] = PARTS
) -> list[tuple[Download, Any]]:
    """The same of several datasets, each file once, with ir_datasets' own object."""
    missing: dict[str, tuple[Download, Any]] = {}
    for dataset_id in dataset_ids:
        for file in _missing(_readers(dataset_id, parts)):
            download = described(file)
            missing.setdefault(download.source or download.instructions, (download, file))
    return list(missing.values())


def _readers(dataset_id: str, parts: Iterable[str]) -> list[Any]:
    import ir_datasets

    dataset = ir_datasets.load(dataset_id)
    try:
        with refusing_damage(dataset_id):
            return [
                getattr(dataset, f"{part}_handler")()
                for part in parts
                if dataset.has(part) and not (part == "docs" and is_stored(dataset))
            ]
    except FAILURES as error:
        raise PlatformError(
            f"ir_datasets cannot open '{dataset_id}' without a network ({type(error).__name__})."
        ) from error


def is_stored(dataset: Any) -> bool:
    """Whether the documents have been unpacked into the library's own store."""
    from ir_datasets.formats import DocstoreBackedDocs

    handler = dataset.docs_handler()
    if isinstance(handler, DocstoreBackedDocs) or not hasattr(handler, "docs_store"):
        return False  # to ask such a store would be to fetch it
    store = handler.docs_store()
    return bool(hasattr(store, "built") and store.built())


def _missing(handlers: list[Any]) -> Iterator[Any]:
    import ir_datasets.util as irds

    seen: set[int] = set()
    waiting = handlers[::-1]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, irds.Download):
            if not is_there(part):
                yield part
        elif isinstance(part, list | tuple):
            waiting.extend(reversed(part))
        elif isinstance(part, dict):
            waiting.extend(reversed(part.values()))
        elif isinstance(part, FunctionType):
            waiting.extend(cell.cell_contents for cell in part.__closure__ or ())
        elif _is_reader(part) and not _is_unpacked(part):
            waiting.extend(reversed(vars(part).values()))


def is_there(download: Any) -> bool:
    """Whether the file of a download of ir_datasets' lies in the library's folder already."""
    from ir_datasets.util import LocalDownload

    paths = [download._cache_path] if download._cache_path else []
    paths += [mirror._path for mirror in download.mirrors if isinstance(mirror, LocalDownload)]
    return any(Path(path).exists() for path in paths)


def _is_reader(part: Any) -> bool:
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries

    # A reader can refer to other datasets, in the closure of a function: they are not part of it.
    if isinstance(part, Dataset) or not hasattr(part, "__dict__"):
        return False
    library = type(part).__module__.startswith("ir_datasets")  # or an extension of it
    return library or isinstance(part, BaseDocs | BaseQueries | BaseQrels)


def _is_unpacked(part: Any) -> bool:
    import ir_datasets.util as irds

    if isinstance(part, irds.Cache):
        return bool(part._path.exists())
    return isinstance(part, irds.TarExtractAll) and Path(part._extract_path).exists()


def described(download: Any) -> Download:
    """What ir_datasets' own object of a download says of it."""
    from ir_datasets.util import LocalDownload

    source = instructions = ""
    path: Any = download._cache_path
    for mirror in download.mirrors:
        if isinstance(mirror, LocalDownload):
            instructions, path = mirror._message or "", path or mirror._path
        elif not source:
            source = str(getattr(mirror, "url", "") or getattr(mirror, "uri", ""))
    return Download(
        source,
        download._size_hint,
        Path(path) if path else None,
        "" if source else " ".join(instructions.split()),
    )


def size_text(size: int | None) -> str:
    """A number of bytes for people."""
    if size is None:
        return "size unknown"
    for unit, worth in (("GB", 1e9), ("MB", 1e6)):
        if size >= worth / 10:
            return f"{size / worth:,.1f} {unit}"
    return f"{size / 1e3:,.0f} kB"


# Says what ir_datasets downloads before it does, and explains what went wrong.
#
# Small files are fetched after a line that says so; gigabytes have to be asked for.

LARGE = 500_000_000
"""Bytes from which a download has to be asked for; below, it is announced and done."""
_CHATTER = ("download error", "Download failed", "[starting]", "[finished]", "[error]", "Opening ")


def summary(downloads: list[Download]) -> str:
    """Number, size and sources of downloads, in a line."""
    if not downloads:
        return "nothing: all files are there"
    if len(downloads) == 1:
        return f"1 file: {downloads[0]}"
    size = size_text(sum(download.size or 0 for download in downloads) or None)
    return f"{counted(len(downloads), 'file')}, {size} in all: {', '.join(map(str, downloads))}"


def refuse_large(needed: list[Download], name: str, hint: str = "") -> None:
    """Refuse to download more than `LARGE` bytes without having been asked to.

    Raises:
        InputError: what is missing, from where, how much, and how it is asked for.
    """
    from ir_datasets.util import home_path

    total = sum(download.size or 0 for download in needed)
    if total < LARGE:
        return
    raise InputError(
        f"'{name}' needs {counted(len(needed), 'file')} that {'is' if len(needed) == 1 else 'are'} "
        f"not here, {size_text(total)} in all, from {_hosts(needed)}. Nothing has been downloaded. "
        f"`platform collections download {name}` fetches them to {home_path()}.{hint}"
    )


def _hosts(needed: list[Download]) -> str:
    """Where files come from: each host with its number of files and their size."""
    sizes: dict[str, list[int]] = {}
    for download in needed:
        host = urlsplit(download.source).hostname or "by hand"
        sizes.setdefault(host, []).append(download.size or 0)
    return ", ".join(
        f"{host} ({counted(len(of), 'file')}, {size_text(sum(of) or None)})"
        for host, of in sizes.items()
    )


@contextmanager
def reading(dataset_id: str, part: str) -> Iterator[None]:
    """Announce the downloads of a part before it is read, and explain it when they fail.

    Raises:
        InputError: it is so large that it has to be asked for, or a file of it is damaged.
        PlatformError: the part could not be read.
    """
    from ir_datasets.util import home_path

    quieten()
    needed = what_would_be_downloaded(dataset_id, [part])
    refuse_large(needed, dataset_id)
    if needed:
        notice(f"ir_datasets downloads {summary(needed)} to {home_path()}")
    try:
        with refusing_damage(dataset_id, part):
            yield
    except FAILURES as error:
        reason = type(error).__name__
        if not needed:
            raise PlatformError(
                f"ir_datasets cannot read the {part} of '{dataset_id}' ({reason}: {error}). Its "
                f"copy under {home_path()} may be damaged: remove it and run this again."
            ) from error
        places = [f"{d} at {d.path}" if d.path else str(d) for d in needed]
        raise PlatformError(
            f"ir_datasets cannot get the {part} of '{dataset_id}' ({reason}). Run this again with "
            f"a network, or put there by hand: {'; '.join(places)}."
        ) from error


def quieten() -> None:
    """Keep ir_datasets' messages about its retries from the user."""
    logging.getLogger("ir_datasets").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a message of ir_datasets is for the user: terms of use are, its retries are not."""
    return not record.getMessage().startswith(_CHATTER)
